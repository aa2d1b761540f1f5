#include <lazymoe/text/chats/kimi.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

TEST_CASE("Moonlight introduces itself where no system message does", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"user", "U1"}, {"assistant", "A1"}, {"user", "U2"}};
  const std::string turns =
      "<|im_user|>user<|im_middle|>U1<|im_end|><|im_assistant|>assistant<|im_middle|>A1<|im_end|>"
      "<|im_user|>user<|im_middle|>U2<|im_end|><|im_assistant|>assistant<|im_middle|>";
  CHECK(joined(KimiChat<true>::render(messages, true)) ==
        "<|im_system|>system<|im_middle|>You are a helpful assistant provided by Moonshot-AI.<|im_end|>" + turns);

  auto with_system = messages;
  with_system.insert(with_system.begin(), {"system", "S"});
  CHECK(joined(KimiChat<true>::render(with_system, true)) == "<|im_system|>system<|im_middle|>S<|im_end|>" + turns);
}

TEST_CASE("Kimi-K2 numbers its calls, Moonlight knows none", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"system", "S"}, {"assistant", "A", "", {{"f", "{}"}}}, {"tool", "T"}};
  CHECK(joined(KimiChat<false>::render(messages, false)) ==
        "<|im_system|>system<|im_middle|>S<|im_end|><|im_assistant|>assistant<|im_middle|>A<|tool_calls_section_begin|>"
        "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
        "<|im_end|><|im_system|>tool<|im_middle|>## Return of functions.f:0\nT<|im_end|>");
  CHECK(test::error_of([&] { (void)KimiChat<true>::render(messages, true); }).code() == Errc::bad_argument);
}

}  // namespace lazymoe::text
