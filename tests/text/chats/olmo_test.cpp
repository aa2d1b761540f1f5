#include <lazymoe/text/chats/olmo.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

TEST_CASE("OLMo writes roles as text and a line end after each turn", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"system", "S"}, {"user", "U1"}, {"assistant", "A1"}, {"user", "U2"}};
  CHECK(joined(OlmoChat::render(messages, true)) ==
        "<|endoftext|><|system|>\nS\n<|user|>\nU1\n<|assistant|>\nA1<|endoftext|>\n<|user|>\nU2\n<|assistant|>\n");
  CHECK(joined(OlmoChat::render(messages, false)).ends_with("U2\n"));
}

TEST_CASE("OLMo knows no tools", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"tool", "T"}};
  CHECK(test::error_of([&] { (void)OlmoChat::render(messages, true); }).code() == Errc::bad_argument);
}

}  // namespace lazymoe::text
