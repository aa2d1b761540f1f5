// Tokens per second of a model as programs run it: a prompt of given or repeated ids, then greedy tokens. Prints JSON
// lines: one for the prompt, one for the first 16 tokens, one for those after, with what the store read meanwhile.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <lazymoe/core.hpp>
#include <lazymoe/instrument/stopwatch.hpp>
#include <nlohmann/json.hpp>

#include "common/counters_json.hpp"
#include "common/engine.hpp"
#include "common/program.hpp"

namespace {

/// Prints a line for what happened since the last.
class Phases {
 public:
  explicit Phases(const examples::Engine& engine) : engine_(engine), before_(counters()) {}

  void end(const std::string& name, std::size_t n_tokens) {
    const double seconds = static_cast<double>(watch_.elapsed_ns()) * 1e-9;
    const auto now = counters();
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    nlohmann::ordered_json line{{"phase", name},
                                {"tokens", n_tokens},
                                {"seconds", seconds},
                                {"tokens_per_s", static_cast<double>(n_tokens) / seconds},
                                {"peak_rss", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024}};
    examples::add_counters(line, now - before_);
    std::cout << line << std::endl;
    before_ = now;
    watch_ = {};
  }

 private:
  [[nodiscard]] lazymoe::instrument::StoreCounters counters() const {
    const auto counters = engine_.counters();
    return counters ? counters->total : lazymoe::instrument::StoreCounters{};
  }

  const examples::Engine& engine_;
  lazymoe::instrument::StoreCounters before_;
  lazymoe::instrument::Stopwatch watch_;
};

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded([&] {
    examples::EngineOptions options;
    std::vector<lazymoe::TokenId> prompt{1};
    std::size_t n_prompt = 1;
    std::size_t n_generated = 48;
    CLI::App app("Tokens per second of a prompt and of greedy decoding", "bench_tokens");
    app.add_option("MODEL", options.model, "GGUF file (the first shard of a split one)")->required();
    app.add_option("--tokens", prompt, "ids of the prompt")->delimiter(',');
    app.add_option("-p,--prompt-length", n_prompt, "repeats the ids to this many");
    app.add_option("-n,--generate", n_generated, "tokens to generate");
    options.add_to(app);
    if (const auto exit_code = examples::parse(app, argc, argv)) return *exit_code;
    for (std::size_t i = 0; prompt.size() < n_prompt; ++i) prompt.push_back(prompt[i]);

    const examples::Engine engine(options.open(), options);
    const auto sequence = engine.model().new_sequence(options.sequence_options());
    std::vector<float> logits(engine.model().config().n_vocab);
    Phases phases(engine);
    engine.model().forward(*sequence, prompt, logits);
    phases.end("prompt", prompt.size());
    std::vector<lazymoe::TokenId> generated;
    const auto generate = [&](const std::string& name, std::size_t until) {
      const std::size_t before = generated.size();
      while (generated.size() < until) {
        generated.push_back(static_cast<lazymoe::TokenId>(std::ranges::max_element(logits) - logits.begin()));
        engine.model().forward(*sequence, std::span(generated).last(1), logits);
      }
      if (generated.size() > before) phases.end(name, generated.size() - before);
    };
    generate("first 16", std::min<std::size_t>(16, n_generated));
    generate("after", n_generated);
    std::cout << nlohmann::ordered_json{{"generated", generated}} << '\n';
    return 0;
  });
}
