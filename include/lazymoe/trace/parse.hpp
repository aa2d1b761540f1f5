#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "routing_trace.hpp"

namespace lazymoe::trace {

namespace detail {

/// Reads one line after the other, and numbers and marks within a line; blanks are skipped.
class LineReader {
 public:
  LineReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  /// False at the end of the text. Empty lines are skipped.
  bool next_line() {
    do {
      if (text_.empty()) return false;
      line_ = text_.substr(0, text_.find('\n'));
      text_.remove_prefix(std::min(line_.size() + 1, text_.size()));
      ++number_;
      skip_blanks();
    } while (line_.empty());
    return true;
  }

  [[nodiscard]] bool at_end() const noexcept { return line_.empty(); }

  /// Skips `mark` if it comes next.
  bool accept(std::string_view mark) {
    if (!line_.starts_with(mark)) return false;
    line_.remove_prefix(mark.size());
    skip_blanks();
    return true;
  }

  void expect(std::string_view mark) {
    if (!accept(mark)) fail("has no " + std::string(mark) + " where one belongs");
  }

  std::uint32_t number() {
    std::uint32_t value = 0;
    const auto [end, failure] = std::from_chars(line_.data(), line_.data() + line_.size(), value);
    if (failure != std::errc{}) fail("has no number where one belongs");
    line_.remove_prefix(static_cast<std::size_t>(end - line_.data()));
    skip_blanks();
    return value;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Errc::bad_argument, std::string(file_) + ": line " + std::to_string(number_) + ' ' + what);
  }

 private:
  void skip_blanks() { line_.remove_prefix(std::min(line_.find_first_not_of(" \t\r"), line_.size())); }

  std::string_view text_;
  std::string_view file_;
  std::string_view line_;
  std::size_t number_ = 0;
};

/// An expert list, checked as it grows.
inline void add_expert(LineReader& reader, std::vector<ExpertIndex>& experts, KeySpace space) {
  const ExpertIndex expert = reader.number();
  if (expert >= space.experts) reader.fail("names an expert that is not below " + std::to_string(space.experts));
  if (std::ranges::find(experts, expert) != experts.end()) reader.fail("names an expert twice");
  experts.push_back(expert);
}

inline LayerIndex layer_of(LineReader& reader, KeySpace space) {
  const LayerIndex layer = reader.number();
  if (layer >= space.layers) reader.fail("names a layer that is not below " + std::to_string(space.layers));
  return layer;
}

}  // namespace detail

/// The trace in what `logits --routes` writes: a JSON line {"layer":0,"experts":[[..],[..]]} for each layer, with a
/// list for each token. Layers may come in any order; tokens are replayed one at a time.
/// @throws Error{bad_argument} naming the file and the line
[[nodiscard]] inline RoutingTrace parse_routes(std::string_view text, KeySpace space, std::string_view file) {
  std::vector<std::vector<std::vector<ExpertIndex>>> layers(space.layers);  // by token
  detail::LineReader reader(text, file);
  while (reader.next_line()) {
    for (const char* mark : {"{", "\"layer\"", ":"}) reader.expect(mark);
    auto& tokens = layers[detail::layer_of(reader, space)];
    if (!tokens.empty()) reader.fail("names a layer for the second time");
    for (const char* mark : {",", "\"experts\"", ":", "["}) reader.expect(mark);
    do {
      reader.expect("[");
      auto& experts = tokens.emplace_back();
      do detail::add_expert(reader, experts, space);
      while (reader.accept(","));
      reader.expect("]");
    } while (reader.accept(","));
    reader.expect("]");
    reader.expect("}");
    if (!reader.at_end()) reader.fail("goes on after its end");
  }
  std::size_t n_tokens = 0;
  for (const auto& tokens : layers) n_tokens = std::max(n_tokens, tokens.size());
  RoutingTrace trace(space);
  for (std::size_t token = 0; token < n_tokens; ++token) {
    for (LayerIndex layer = 0; layer < space.layers; ++layer) {
      if (token < layers[layer].size()) trace.add_step(layer, layers[layer][token]);
    }
  }
  return trace;
}

/// The trace in a table "token,layer,e0,e1,..." with a line for each step, in order, below a line of titles.
/// @throws Error{bad_argument} naming the file and the line
[[nodiscard]] inline RoutingTrace parse_routes_csv(std::string_view text, KeySpace space, std::string_view file) {
  RoutingTrace trace(space);
  detail::LineReader reader(text, file);
  std::vector<ExpertIndex> experts;
  for (bool titles = true; reader.next_line(); titles = false) {
    if (titles) {
      reader.expect("token,layer,");
      continue;
    }
    (void)reader.number();  // the token
    reader.expect(",");
    const LayerIndex layer = detail::layer_of(reader, space);
    experts.clear();
    while (reader.accept(",")) detail::add_expert(reader, experts, space);
    if (experts.empty() || !reader.at_end()) reader.fail("is not token,layer,expert,expert,...");
    trace.add_step(layer, experts);
  }
  return trace;
}

}  // namespace lazymoe::trace
