#include <lazymoe/text/chats/mistral.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

TEST_CASE("Mistral writes questions in [INST] and the system text before the first", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"system", "S"}, {"user", "U1"}, {"assistant", "A1"}, {"user", "U2"}};
  CHECK(joined(MistralChat<true>::render(messages, true)) == "<s> [INST] S\n\nU1 [/INST] A1</s> [INST] U2 [/INST]");
  CHECK(joined(MistralChat<false>::render(messages, true)) == "<s>[INST] S\n\nU1 [/INST]A1</s>[INST] U2 [/INST]");
}

TEST_CASE("Mistral refuses tools and late system messages", "[text][chat]") {
  for (const auto& messages :
       {std::vector<ChatMessage>{{"user", "U"}, {"system", "S"}}, std::vector<ChatMessage>{{"tool", "T"}}}) {
    CHECK(test::error_of([&] { (void)MistralChat<true>::render(messages, true); }).code() == Errc::bad_argument);
  }
}

}  // namespace lazymoe::text
