#include <lazymoe/text/chats/glm4.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::text {

TEST_CASE("GLM writes turns without line ends and opens or closes its thinking", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"system", "S"}, {"user", "U1"}, {"assistant", "A1"}, {"user", "U2"}};
  const std::string turns = "[gMASK]<sop><|system|>S<|user|>U1<|assistant|></think>A1<|user|>U2";
  CHECK(joined(Glm4Chat::render(messages, true)) == turns + "<|assistant|><think>");
  CHECK(joined(Glm4Chat::render(messages, true, {.thinking = false, .tools = {}})) == turns + "<|assistant|></think>");
  CHECK(joined(Glm4Chat::render(messages, false)) == turns);
}

TEST_CASE("GLM writes the values of a call between tags", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"user", "U"},
                                          {"assistant", "", "R", {{"f", R"({"a":"x","b":[1,2]})"}, {"g", "{}"}}},
                                          {"tool", "T1"},
                                          {"tool", "T2"}};
  CHECK(joined(Glm4Chat::render(messages, true)) ==
        "[gMASK]<sop><|user|>U<|assistant|><think>R</think><tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value>"
        "<arg_key>b</arg_key><arg_value>[1, 2]</arg_value></tool_call><tool_call>g</tool_call><|observation|>"
        "<tool_response>T1</tool_response><tool_response>T2</tool_response><|assistant|><think>");
}

}  // namespace lazymoe::text
