#pragma once

#include <span>
#include <string>

namespace lazymoe::text {

/// A stretch of a prompt and who wrote it. Control tokens count in the template's own text only: what users and
/// models say cannot end a turn.
struct Segment {
  std::string text;
  bool is_template = false;

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// The prompt as one text, to show or to log.
[[nodiscard]] inline std::string joined(std::span<const Segment> segments) {
  std::string prompt;
  for (const Segment& segment : segments) prompt += segment.text;
  return prompt;
}

}  // namespace lazymoe::text
