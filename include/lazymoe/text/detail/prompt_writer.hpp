#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../segment.hpp"

namespace lazymoe::text::detail {

/// Builds a prompt, never mixing the template's own text with what others wrote.
class PromptWriter {
 public:
  /// Text of the template.
  PromptWriter& own(std::string_view text) { return write(text, true); }

  /// Text of the user, the model or a tool.
  PromptWriter& said(std::string_view text) { return write(text, false); }

  [[nodiscard]] std::vector<Segment> take() { return std::move(segments_); }

 private:
  PromptWriter& write(std::string_view text, bool is_template) {
    if (text.empty()) return *this;
    if (segments_.empty() || segments_.back().is_template != is_template) segments_.push_back({{}, is_template});
    segments_.back().text += text;
    return *this;
  }

  std::vector<Segment> segments_;
};

}  // namespace lazymoe::text::detail
