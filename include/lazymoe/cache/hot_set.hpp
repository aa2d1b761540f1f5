#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"

namespace lazymoe::cache {

/// The `n` keys used most, most used first; of equals the lower key. Keys never used are left out.
///
/// @shape uses[space.size()], by key
[[nodiscard]] inline std::vector<ExpertKey> hottest(std::span<const std::uint64_t> uses, std::size_t n) {
  std::vector<ExpertKey> keys;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] != 0) keys.push_back(ExpertKey{static_cast<std::uint32_t>(i)});
  }
  std::ranges::stable_sort(keys, [&](ExpertKey a, ExpertKey b) { return uses[index(a)] > uses[index(b)]; });
  keys.resize(std::min(n, keys.size()));
  return keys;
}

/// A list of experts as the text of a file that lies beside a model: a line "layer expert" for each.
[[nodiscard]] inline std::string hot_set_text(KeySpace space, std::span<const ExpertKey> keys) {
  std::string text = "# layer expert\n";
  for (const ExpertKey key : keys) {
    text += std::to_string(space.layer(key)) + ' ' + std::to_string(space.expert(key)) + '\n';
  }
  return text;
}

/// The experts such a text names, in its order. Empty lines and what follows a # mean nothing.
/// @throws Error{bad_argument} naming the file and the line when a line is not an expert of `space`
[[nodiscard]] inline std::vector<ExpertKey> parse_hot_set(std::string_view text, KeySpace space,
                                                          std::string_view file) {
  constexpr std::string_view blank = " \t\r";
  std::vector<ExpertKey> keys;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(blank), line.size())); };
    // False if no number below `limit` comes next.
    const auto read = [&](std::uint32_t& value, std::uint32_t limit) {
      skip_blanks();
      const auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), value);
      line.remove_prefix(static_cast<std::size_t>(end - line.data()));
      return failure == std::errc{} && value < limit && (line.empty() || blank.find(line[0]) != blank.npos);
    };
    skip_blanks();
    if (line.empty()) continue;
    std::uint32_t layer = 0;
    std::uint32_t expert = 0;
    const bool good = read(layer, space.layers) && read(expert, space.experts);
    skip_blanks();
    if (!good || !line.empty()) {
      throw Error(Errc::bad_argument, std::string(file) + ": line " + std::to_string(number) +
                                          " is not \"layer expert\" with a layer below " +
                                          std::to_string(space.layers) + " and an expert below " +
                                          std::to_string(space.experts));
    }
    keys.push_back(space.key(layer, expert));
  }
  return keys;
}

}  // namespace lazymoe::cache
