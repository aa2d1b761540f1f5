// Writes the logits of a list of tokens: the tool for every comparison.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <lazymoe/core.hpp>
#include <nlohmann/json.hpp>

#include "common/engine.hpp"
#include "common/program.hpp"

namespace {

std::vector<lazymoe::TokenId> parse_tokens(std::string_view text) {
  std::vector<lazymoe::TokenId> tokens;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    lazymoe::TokenId token = 0;
    const auto [next, failure] = std::from_chars(at, end, token);
    if (failure != std::errc{} || (next != end && *next != ',')) {
      throw lazymoe::Error(lazymoe::Errc::bad_argument, "--tokens wants numbers such as 1,2,3");
    }
    tokens.push_back(token);
    if (next == end) return tokens;
    at = next + 1;
  }
}

/// Nobody should compare what a damaged file gives.
void refuse_nonsense(const lazymoe::gguf::File& model, std::span<const float> logits) {
  if (!std::ranges::all_of(logits, [](float x) { return std::isfinite(x); })) {
    throw lazymoe::Error(lazymoe::Errc::bad_tensor,
                         model.name() + ": the logits are not finite numbers, so the weights must be damaged");
  }
}

/// FNV-1a, 64 bits, over the bytes.
std::uint64_t hash(std::span<const float> values) {
  std::uint64_t h = 0xCBF29CE484222325U;
  for (const std::byte b : std::as_bytes(values)) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3U;
  return h;
}

/// A file that is complete or an error.
void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw lazymoe::Error(lazymoe::Errc::io, path + ": cannot write");
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded([&] {
    examples::EngineOptions options;
    std::string tokens_text;
    std::string out;
    std::string routes_path;
    bool all = false;
    CLI::App app("Logits of a list of tokens, as float32 rows in a file, and their hash on standard output", "logits");
    app.add_option("MODEL", options.model, "GGUF file (the first shard of a split one), or its URL")->required();
    app.add_option("--tokens", tokens_text, "ids, such as 1,2,3")->required();
    app.add_flag("--all", all, "logits of every position, not only of the last");
    app.add_option("--out", out, "file for the logits, row-major [positions, n_vocab]");
    app.add_option("--routes", routes_path, "file for the chosen experts: a JSON line a layer, a list a token");
    options.add_to(app);
    if (const auto exit_code = examples::parse(app, argc, argv)) return *exit_code;

    const auto tokens = parse_tokens(tokens_text);
    examples::Engine engine(options.open(), options);
    for (const std::string& path : {out, routes_path}) examples::refuse_to_overwrite(engine.file(), path);
    if (!out.empty() && out == routes_path) {
      throw lazymoe::Error(lazymoe::Errc::bad_argument, out + ": is named for both --out and --routes");
    }
    std::map<lazymoe::LayerIndex, std::vector<std::vector<lazymoe::ExpertIndex>>> routes;
    engine.on_route = [&](const lazymoe::store::RouteEvent& event) {
      routes[event.layer].emplace_back(event.experts.begin(), event.experts.end());
    };
    const std::size_t n_vocab = engine.model().config().n_vocab;
    std::vector<float> logits(all ? n_vocab * tokens.size() : n_vocab);
    const auto sequence = engine.model().new_sequence(options.sequence_options());
    engine.model().forward(*sequence, tokens, logits);
    refuse_nonsense(engine.file(), logits);

    if (!out.empty()) {
      const auto bytes = std::as_bytes(std::span<const float>(logits));
      write_file(out, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    if (!routes_path.empty()) {
      std::string lines;
      for (const auto& [layer, experts] : routes) {
        lines += nlohmann::ordered_json{{"layer", layer}, {"experts", experts}}.dump() + "\n";
      }
      write_file(routes_path, lines);
    }
    if (options.files.by_url()) std::cerr << '[' << options.files.traffic() << "]\n";
    std::cout << std::hex << std::setw(16) << std::setfill('0') << hash(logits) << '\n';
    return 0;
  });
}
