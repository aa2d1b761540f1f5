#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "segment.hpp"

namespace lazymoe::text {

/// Whether an answer to this prompt begins inside a think block: the prompt's last words open one.
[[nodiscard]] inline bool opens_thinking(std::span<const Segment> prompt) {
  if (prompt.empty() || !prompt.back().is_template) return false;
  const std::string_view text = prompt.back().text;
  return text.substr(0, text.find_last_not_of('\n') + 1).ends_with("<think>");
}

/// Takes apart what a model says: what it thinks, between <think> and </think> at the beginning, and its answer. The
/// marks and the line ends around them belong to neither.
///
/// Pieces may end anywhere, also inside a mark: what comes out does not depend on it.
class ThinkingSplitter {
 public:
  struct Parts {
    std::string thinking;
    std::string answer;
  };

  /// @param is_open the prompt has opened the block (see opens_thinking())
  explicit ThinkingSplitter(bool is_open = false) : is_open_(is_open) {}

  /// What is known for certain after this piece; what may be part of a mark stays behind.
  [[nodiscard]] Parts push(std::string_view piece) {
    held_ += piece;
    Parts parts;
    if (place_ == Place::start) begin();
    if (place_ == Place::thinking) think(parts);
    if (place_ == Place::gap) {
      skip_newlines();
      if (!held_.empty()) place_ = Place::answer;
    }
    if (place_ == Place::answer) parts.answer = std::exchange(held_, {});
    return parts;
  }

  /// What is left at the end.
  [[nodiscard]] Parts flush() {
    Parts parts;
    if (is_thinking()) {
      held_.erase(held_.find_last_not_of('\n') + 1);
      parts.thinking = std::exchange(held_, {});
    } else {
      parts.answer = std::exchange(held_, {});
    }
    return parts;
  }

  [[nodiscard]] bool is_thinking() const noexcept {
    return place_ == Place::thinking || (place_ == Place::start && is_open_);
  }

 private:
  enum class Place : std::uint8_t {
    start,     ///< nothing but spaces and perhaps a part of <think> has come
    thinking,  ///< in the block
    gap,       ///< nothing but line ends since the block
    answer,
  };
  static constexpr std::string_view open_mark = "<think>";
  static constexpr std::string_view close_mark = "</think>";

  void begin() {
    const std::size_t spaces = std::min(held_.find_first_not_of(" \t\r\n"), held_.size());
    const std::string_view text = std::string_view(held_).substr(spaces);
    if (text.starts_with(open_mark)) {
      held_.erase(0, spaces + open_mark.size());
      place_ = Place::thinking;
    } else if (!open_mark.starts_with(text)) {
      place_ = is_open_ ? Place::thinking : Place::answer;
    }
  }

  void think(Parts& parts) {
    if (!has_thought_) skip_newlines();
    const std::string_view text = held_;
    const std::size_t found = text.find(close_mark);
    const std::size_t end = found == std::string_view::npos ? text.size() - part_of_close_mark(text) : found;
    const std::size_t last = text.substr(0, end).find_last_not_of('\n') + 1;  // npos + 1 is 0
    parts.thinking = text.substr(0, last);
    has_thought_ = has_thought_ || last != 0;
    if (found == std::string_view::npos) {
      held_.erase(0, last);
    } else {
      held_.erase(0, found + close_mark.size());
      place_ = Place::gap;
    }
  }

  /// How many bytes at the end of `text` may begin a mark.
  [[nodiscard]] static std::size_t part_of_close_mark(std::string_view text) {
    std::size_t n = std::min(text.size(), close_mark.size() - 1);
    while (!text.ends_with(close_mark.substr(0, n))) --n;
    return n;
  }

  void skip_newlines() { held_.erase(0, std::min(held_.find_first_not_of('\n'), held_.size())); }

  std::string held_;
  Place place_ = Place::start;
  bool is_open_;
  bool has_thought_ = false;  // text other than line ends
};

}  // namespace lazymoe::text
