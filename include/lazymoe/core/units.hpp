#pragma once

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "error.hpp"
#include "types.hpp"

namespace lazymoe {

/// "512 B", "1.50 MiB": for people; three digits are enough for them.
[[nodiscard]] inline std::string format_bytes(Bytes bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < units.size()) {
    value /= 1024.0;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.2f %s", value, units[unit]);
  return text.data();
}

/// "6GiB", "1.5 GB", "64k", "300000": powers of 1024 with an i, of 1000 without; a lone letter is a power of 1024.
/// @throws Error{bad_argument}
[[nodiscard]] inline Bytes parse_bytes(std::string_view text) {
  const auto refuse = [&](const char* why = "is not a number of bytes such as 6GiB, 500MB or 300000") {
    throw Error(Errc::bad_argument, "'" + std::string(text) + "' " + why);
  };
  double value = 0.0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool out_of_range = failure == std::errc::result_out_of_range;
  if (!out_of_range && (failure != std::errc{} || !(value >= 0.0) || std::isinf(value))) refuse();
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    if (*c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  }
  constexpr std::array<std::pair<std::string_view, double>, 14> units{{{"", 1.0},
                                                                       {"b", 1.0},
                                                                       {"k", 0x1p10},
                                                                       {"kib", 0x1p10},
                                                                       {"kb", 1e3},
                                                                       {"m", 0x1p20},
                                                                       {"mib", 0x1p20},
                                                                       {"mb", 1e6},
                                                                       {"g", 0x1p30},
                                                                       {"gib", 0x1p30},
                                                                       {"gb", 1e9},
                                                                       {"t", 0x1p40},
                                                                       {"tib", 0x1p40},
                                                                       {"tb", 1e12}}};
  for (const auto& [name, factor] : units) {
    if (unit != name) continue;
    const double bytes = value * factor;
    if (out_of_range || !(bytes < 0x1p63)) refuse("is out of range: the most is 8388607TiB");
    if (factor == 1.0 && value != std::floor(value)) refuse("is a fraction of a byte: it lacks a unit such as GiB");
    return static_cast<Bytes>(bytes);
  }
  refuse();
  return 0;  // not reached
}

}  // namespace lazymoe
