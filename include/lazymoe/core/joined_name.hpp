#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace lazymoe {

/// Two names in a row, joined while compiling: how decorators name themselves after what they decorate.
template <const std::string_view& first, const std::string_view& second>
struct JoinedName {
  static constexpr auto letters = [] {
    std::array<char, first.size() + second.size()> joined{};
    std::size_t n = 0;
    for (const char c : first) joined[n++] = c;
    for (const char c : second) joined[n++] = c;
    return joined;
  }();
  static constexpr std::string_view value{letters.data(), letters.size()};
};

}  // namespace lazymoe
