#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"

namespace lazymoe::generate {

/// Ends a stream of text before the first stop string, wherever the pieces are cut.
///
/// The stop string that is complete first counts, of several the longest. Text that may turn out to be the beginning
/// of one is held back; so the result does not depend on the pieces.
/// @cost O(bytes of the piece and held text x stop strings) per push
class StopMatcher {
 public:
  /// Never stops.
  StopMatcher() = default;

  /// @throws Error{bad_argument} for an empty stop string
  explicit StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
    if (std::ranges::any_of(stops_, &std::string::empty)) {
      throw Error(Errc::bad_argument, "stop string: an empty one would stop everything");
    }
  }

  /// The text that can be shown now; nothing once stopped.
  [[nodiscard]] std::string push(std::string_view text) {
    if (stopped_) return {};
    held_ += text;
    const auto [begin, end] = first_stop();
    stopped_ = end != std::string::npos;
    const std::size_t shown = stopped_ ? begin : held_.size() - longest_beginning();
    std::string result = held_.substr(0, shown);
    held_.erase(0, stopped_ ? held_.size() : shown);
    return result;
  }

  [[nodiscard]] bool stopped() const noexcept { return stopped_; }

  /// The held text, when no more will come.
  [[nodiscard]] std::string flush() { return std::exchange(held_, {}); }

 private:
  struct Range {
    std::size_t begin = std::string::npos;
    std::size_t end = std::string::npos;
  };

  [[nodiscard]] Range first_stop() const {
    Range first;
    for (const std::string& stop : stops_) {
      const std::size_t begin = held_.find(stop);
      if (begin == std::string::npos) continue;
      const Range found{begin, begin + stop.size()};
      if (found.end < first.end || (found.end == first.end && found.begin < first.begin)) first = found;
    }
    return first;
  }

  // Length of the longest end of the held text that begins a stop string.
  [[nodiscard]] std::size_t longest_beginning() const {
    const std::string_view held = held_;
    std::size_t longest = 0;
    for (const std::string_view stop : stops_) {
      for (std::size_t n = std::min(stop.size() - 1, held.size()); n > longest; --n) {
        if (held.ends_with(stop.substr(0, n))) longest = n;
      }
    }
    return longest;
  }

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace lazymoe::generate
