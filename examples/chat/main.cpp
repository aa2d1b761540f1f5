// A chat on the terminal.
#include <atomic>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <lazymoe/core.hpp>
#include <lazymoe/generate.hpp>
#include <lazymoe/instrument/stopwatch.hpp>
#include <lazymoe/text.hpp>

#include "chat/line_reader.hpp"
#include "chat/stats.hpp"
#include "common/engine.hpp"
#include "common/program.hpp"

namespace {

std::atomic<bool> interrupted{false};

/// Ctrl-C stops the answer, not the program.
void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = SA_RESTART;  // a write must not fail for it; poll ends all the same
  ::sigaction(SIGINT, &action, nullptr);
}

/// Writes an answer as it comes; what the model thinks before it is dimmed on a terminal, and elsewhere left out.
class AnswerWriter {
 public:
  explicit AnswerWriter(bool terminal) : terminal_(terminal) {}
  ~AnswerWriter() { dim(false); }
  AnswerWriter(const AnswerWriter&) = delete;
  AnswerWriter& operator=(const AnswerWriter&) = delete;

  void write(std::string_view piece, lazymoe::Part part) {
    const bool thinking = part == lazymoe::Part::thinking;
    if (piece.empty() || (thinking && !terminal_)) return;
    if (dim(thinking) && !thinking) std::cout << "\n\n";
    std::cout << piece << std::flush;
    in_line_ = true;
  }

  void end_line() {
    dim(false);
    if (in_line_) std::cout << '\n' << std::flush;
  }

 private:
  /// True if it was otherwise before.
  bool dim(bool on) {
    if (std::exchange(dimmed_, on) == on) return false;
    std::cout << (on ? "\033[2m" : "\033[22m") << std::flush;
    return true;
  }

  bool terminal_;
  bool dimmed_ = false;
  bool in_line_ = false;
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

class Chat {
 public:
  Chat(examples::Engine& engine, const examples::ModelFiles& files, lazymoe::Session& session, bool stats,
       const std::string& stats_json)
      : engine_(engine), files_(files), session_(session), stats_(stats), stats_file_(stats_json) {}

  void answer(const std::string& message) {
    interrupted = false;
    const auto before = engine_.counters();
    const lazymoe::Reply reply = stream(message);
    std::cout << '\n' << std::flush;
    if (reply.n_dropped_turns > 0) {
      std::cerr << "(the context is full: the oldest " << reply.n_dropped_turns
                << (reply.n_dropped_turns == 1 ? " turn was dropped)\n" : " turns were dropped)\n");
    }
    if (reply.end == lazymoe::Reply::End::context_full) {
      std::cerr << "(the answer ends here: it fills the context of " << session_.sequence().capacity() << " tokens)\n";
    }
    const auto after = engine_.counters();
    if (stats_) print_stats(reply, difference(before, after));
    if (stats_file_.wanted()) stats_file_.write(reply, before, after);
  }

  /// Answers line by line until the input ends. Without a terminal, a message that failed counts in the exit code.
  int interact() {
    const bool terminal = ::isatty(STDIN_FILENO) != 0;
    if (terminal) {
      install_interrupt_handler();
      std::cerr << engine_.file().name() << ": " << lazymoe::format_bytes(engine_.model().weight_bytes())
                << " resident, " << lazymoe::format_bytes(engine_.expert_bytes())
                << " for experts. /help lists commands, Ctrl-C stops an answer, Ctrl-D ends.\n";
    }
    int exit_code = 0;
    examples::LineReader input;
    while (std::cout.good()) {
      interrupted = false;  // it stopped the last answer
      if (terminal) std::cerr << "> " << std::flush;
      std::string line;
      const auto got = input.next(line, interrupted);
      if (got == examples::LineReader::Got::end) break;
      if (got == examples::LineReader::Got::signal) {
        std::cerr << "\n(Ctrl-D ends)\n";
        continue;
      }
      if (is_blank(line)) continue;
      try {
        if (line.starts_with('/')) {
          command(line);
        } else {
          answer(line);
        }
      } catch (const lazymoe::Error& error) {
        std::cerr << examples::one_line(error.what()) << '\n';  // the message counts as not said; the chat goes on
        if (!terminal) exit_code = 1;
      }
    }
    if (terminal) std::cerr << '\n';
    return exit_code;
  }

 private:
  void command(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    std::string argument;
    std::string rest;
    words >> name >> argument >> rest;
    if (name == "/clear" && argument.empty()) {
      session_.clear();
    } else if (name == "/shrink" && !argument.empty() && rest.empty()) {
      shrink_to(argument);
    } else if (name == "/help" && argument.empty()) {
      std::cerr << "(/clear begins the conversation anew; /shrink SIZE, such as 2GiB, gives memory of experts back. A "
                   "message that is no command begins with another character, such as a space.)\n";
    } else {
      throw lazymoe::Error(lazymoe::Errc::bad_argument,
                           line + ": is no command; there are /clear, /shrink SIZE and /help");
    }
  }

  void shrink_to(const std::string& size) {
    const auto returned = engine_.shrink_to(lazymoe::store::ExpertBudget::parse(size));
    std::cerr << "(" << lazymoe::format_bytes(returned) << " given back; " << lazymoe::format_bytes(engine_.expert_bytes())
              << " for experts)\n";
  }

  using Layered = std::optional<lazymoe::instrument::LayeredCounters>;

  [[nodiscard]] static std::optional<lazymoe::instrument::StoreCounters> difference(const Layered& before,
                                                                                    const Layered& after) {
    if (!before || !after) return std::nullopt;
    return after->total - before->total;
  }

  void print_stats(const lazymoe::Reply& reply, const std::optional<lazymoe::instrument::StoreCounters>& counted) const {
    const std::string traffic = files_.traffic();
    std::cerr << "[prompt: " << examples::speed(reply.n_prompt, reply.prompt_ns) << ", " << reply.n_reused
              << " more reused; answer: " << examples::speed(reply.n_generated, reply.generate_ns)
              << "; experts: " << examples::describe(counted) << (traffic.empty() ? "" : "; " + traffic + " so far")
              << "]\n";
  }

  /// An error comes on a line of its own and names the file.
  lazymoe::Reply stream(const std::string& message) {
    AnswerWriter answer(::isatty(STDOUT_FILENO) != 0);
    examples::StatusLine status(stats_);
    const auto before = engine_.counters();
    const lazymoe::instrument::Stopwatch watch;
    std::size_t n_tokens = 0;
    const auto show = [&](const std::string& what) {
      status.update([&] { return what + "; " + examples::describe(difference(before, engine_.counters())); });
    };
    try {
      return session_.reply(
          message,
          [&](std::string_view piece, lazymoe::Part part) {
            answer.write(piece, part);
            show(examples::speed(++n_tokens, watch.elapsed_ns()));
            return !interrupted && std::cout.good();
          },
          [&](std::size_t done, std::size_t total) {
            show("prompt " + std::to_string(done) + " of " + std::to_string(total));
            return !interrupted;
          });
    } catch (const lazymoe::Error& error) {
      answer.end_line();
      // What is impossible in a conversation was made so by the model: logits that are no numbers, an unknown token.
      if (error.code() != lazymoe::Errc::bad_argument) throw;
      throw lazymoe::Error(error.code(), engine_.file().name() + ": " + error.what());
    }
  }

  examples::Engine& engine_;
  const examples::ModelFiles& files_;
  lazymoe::Session& session_;
  bool stats_;
  examples::StatsFile stats_file_;
};

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded([&] {
    examples::EngineOptions options;
    lazymoe::SessionOptions session_options;
    lazymoe::generate::SamplerOptions& sampler = session_options.sampler;
    std::optional<std::string> prompt;
    std::string thinking = "auto";
    bool stats = false;
    std::string stats_json;
    CLI::App app("A chat with a Mixture-of-Experts model in a GGUF file. Without a terminal, every line is a message.",
                 "chat");
    app.add_option("MODEL", options.model, "GGUF file (the first shard of a split one), or its URL")
        ->required()
        ->envname("LAZYMOE_MODEL");
    app.add_option("-p,--prompt", prompt, "answer this and end");
    app.add_option("--system", session_options.system, "what the conversation begins with");
    app.add_option("--chat-template", session_options.chat_template, "name of the chat format; default: the file's");
    app.add_option("--thinking", thinking, "whether to think before an answer, if the model can; auto: as its template does")
        ->check(CLI::IsMember({"auto", "on", "off"}))
        ->capture_default_str();
    app.add_option("--max-tokens", session_options.max_tokens, "of one answer; 0: until the model ends it")
        ->check(examples::within(0, 1 << 30))
        ->capture_default_str();
    app.add_option("--stop", session_options.stop, "text that ends an answer; may be given more than once")
        ->allow_extra_args(false);
    app.add_option("--temp", sampler.temperature, "temperature; 0: always the likeliest token")->capture_default_str();
    app.add_option("--top-k", sampler.top_k, "keep the k likeliest; 0: all")->capture_default_str();
    app.add_option("--top-p", sampler.top_p, "keep the likeliest that add up to p")->capture_default_str();
    app.add_option("--min-p", sampler.min_p, "keep what is at least p times as likely as the likeliest")
        ->capture_default_str();
    app.add_option("--repeat-penalty", sampler.repetition_penalty, "makes recent tokens less likely; 1: not")
        ->capture_default_str();
    app.add_option("--seed", sampler.seed, "of the random choices")
        ->check(examples::natural())
        ->capture_default_str();
    app.add_flag("--stats", stats, "say what each answer cost; on a terminal also while it is written");
    app.add_option("--stats-json", stats_json, "file for what each answer cost, also by layer: a JSON line each");
    options.add_to(app);
    if (const auto exit_code = examples::parse(app, argc, argv)) return *exit_code;
    if (prompt && is_blank(*prompt)) throw lazymoe::Error(lazymoe::Errc::bad_argument, "--prompt: the prompt is empty");

    // What is wrong with the vocabulary, the template or the sampler is said before the weights are read.
    auto file = options.open();
    const auto tokenizer = std::make_shared<const lazymoe::Tokenizer>(file.metadata());
    const auto format = session_options.chat_template.empty()
                            ? lazymoe::text::recognise_chat_template(file.metadata())
                            : lazymoe::text::chat_template_by_name(session_options.chat_template);
    static_cast<void>(lazymoe::generate::Sampler(sampler));

    examples::refuse_to_overwrite(file, stats_json);

    examples::Engine engine(std::move(file), options);
    session_options.sequence = options.sequence_options();
    if (thinking != "auto") session_options.chat.thinking = thinking == "on";
    lazymoe::Session session(engine.model(), tokenizer, format, session_options);
    Chat chat(engine, options.files, session, stats, stats_json);
    if (!prompt) return chat.interact();
    chat.answer(*prompt);
    return 0;
  });
}
