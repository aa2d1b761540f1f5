#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lazymoe::text {

/// A function that the model called.
struct ToolCall {
  std::string name;
  std::string arguments;  ///< a JSON object
};

/// One turn of a conversation.
struct ChatMessage {
  std::string role;  ///< "system", "user", "assistant" or "tool"
  std::string content;
  std::string reasoning = {};             ///< of the assistant; empty: what stands in `content` before </think>, if any
  std::vector<ToolCall> tool_calls = {};  ///< of the assistant, after its content
};

/// What a prompt is to say beside the conversation.
struct ChatOptions {
  std::optional<bool> thinking = {};    ///< whether to think before the answer; nothing: as the model's template does
  std::vector<std::string> tools = {};  ///< descriptions of the functions the model may call, a JSON object each
};

}  // namespace lazymoe::text
