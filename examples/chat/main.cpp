// A chat on the terminal.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <lazymoe/core.hpp>
#include <lazymoe/generate.hpp>

#include "common/engine.hpp"
#include "common/program.hpp"

namespace {

std::atomic<bool> interrupted{false};

/// Ctrl-C stops the answer; without an answer to stop, a second one in a row ends the program.
void on_interrupt(int) { interrupted = true; }

void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;  // no SA_RESTART: a wait for input ends too
  sigaction(SIGINT, &action, nullptr);
}

void print_stats(const lazymoe::Reply& reply, const lazymoe::instrument::StoreCounters& c) {
  const auto per_second = [](std::size_t n, std::uint64_t ns) {
    return ns == 0 ? 0.0 : static_cast<double>(n) * 1e9 / static_cast<double>(ns);
  };
  std::fprintf(stderr,
               "[prompt %zu tokens (+%zu reused), %.1f/s; answer %zu tokens, %.1f/s; experts: %llu hits, %llu misses, "
               "%.1f %%; read %s; waited %.1f ms]\n",
               reply.n_prompt, reply.n_reused, per_second(reply.n_prompt, reply.prompt_ns), reply.n_generated,
               per_second(reply.n_generated, reply.generate_ns), static_cast<unsigned long long>(c.hits),
               static_cast<unsigned long long>(c.misses), 100.0 * c.hit_rate(),
               lazymoe::format_bytes(c.bytes_read).c_str(), static_cast<double>(c.wait_ns) / 1e6);
}

class Chat {
 public:
  Chat(const examples::EngineOptions& engine, const lazymoe::SessionOptions& session, bool stats)
      : engine_(engine), session_(engine_.model(), engine_.file().metadata(), session), stats_(stats) {}

  void answer(const std::string& message) {
    interrupted = false;
    const auto reply = session_.reply(message, [](std::string_view piece) {
      std::cout << piece << std::flush;
      return !interrupted.load() && std::cout.good();
    });
    std::cout << '\n' << std::flush;
    if (reply.n_dropped_turns > 0) {
      std::cerr << "(the context is full: the oldest " << reply.n_dropped_turns << " turn(s) were dropped)\n";
    }
    if (stats_) print_stats(reply, engine_.counters().total);
  }

  /// Reads messages until the input ends.
  int interact() {
    const bool terminal = ::isatty(STDIN_FILENO) != 0;
    if (terminal) {
      std::cerr << engine_.file().name() << ", " << lazymoe::format_bytes(engine_.model().weight_bytes())
                << " resident, " << lazymoe::format_bytes(engine_.expert_bytes())
                << " for experts. /clear begins anew, Ctrl-D ends.\n";
    }
    for (;;) {
      if (terminal) std::cerr << "> " << std::flush;
      std::string line;
      if (!std::getline(std::cin, line)) {
        if (!interrupted.exchange(false) || std::cin.eof()) break;
        std::cin.clear();
        std::clearerr(stdin);
        std::cerr << "\n(Ctrl-D ends)\n";
        continue;
      }
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (line == "/clear") {
        session_.clear();
        continue;
      }
      try {
        answer(line);
      } catch (const lazymoe::Error& error) {
        std::cerr << error.what() << '\n';  // the message counts as not said; the chat goes on
      }
    }
    if (terminal) std::cerr << '\n';
    return 0;
  }

 private:
  examples::Engine engine_;
  lazymoe::Session session_;
  bool stats_;
};

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded([&] {
    examples::EngineOptions engine;
    lazymoe::SessionOptions session;
    std::optional<std::string> prompt;
    bool stats = false;
    CLI::App app("A chat with a Mixture-of-Experts model in a GGUF file");
    app.add_option("model", engine.model, "GGUF file (the first shard of a split one)")
        ->required()
        ->envname("LAZYMOE_MODEL");
    app.add_option("-p,--prompt", prompt, "answer this and end");
    app.add_option("--system", session.system, "what the conversation begins with");
    app.add_option("--chat-template", session.chat_template, "name of the chat format; default: the file's");
    app.add_option("--max-tokens", session.max_tokens, "of one answer; 0: until the model ends it");
    app.add_option("--stop", session.stop, "text that ends an answer; may be given more than once");
    app.add_option("--temp", session.sampler.temperature, "0: always the likeliest token");
    app.add_option("--top-k", session.sampler.top_k, "keep the k likeliest; 0: all");
    app.add_option("--top-p", session.sampler.top_p, "keep the likeliest that sum up to p");
    app.add_option("--min-p", session.sampler.min_p, "keep what is at least p times as likely as the likeliest");
    app.add_option("--repeat-penalty", session.sampler.repetition_penalty, "1: none");
    app.add_option("--seed", session.sampler.seed, "of the random choices");
    app.add_flag("--stats", stats, "what each answer cost");
    engine.add_to(app);
    if (const auto exit_code = examples::parse(app, argc, argv)) return *exit_code;

    session.sequence = engine.sequence_options();
    Chat chat(engine, session, stats);
    if (prompt) {
      chat.answer(*prompt);
      return 0;
    }
    install_interrupt_handler();
    return chat.interact();
  });
}
