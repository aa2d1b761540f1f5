#include <lazymoe/text/chats/chatml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

namespace {

constexpr std::string_view plain_chatml =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n' "
    "}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("ChatML writes each turn between its markers", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"system", "S"}, {"user", "U1"}, {"assistant", "A1"}, {"user", "U2"}};
  const auto prompt = ChatML::render(messages, true);
  CHECK(joined(prompt) ==
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU1<|im_end|>\n<|im_start|>assistant\nA1<|im_end|>\n"
        "<|im_start|>user\nU2<|im_end|>\n<|im_start|>assistant\n");
  CHECK(joined(ChatML::render(messages, false)).ends_with("U2<|im_end|>\n"));
  CHECK(joined(ChatML::render({}, true)) == "<|im_start|>assistant\n");
  CHECK(ChatML::render({}, false).empty());
}

TEST_CASE("ChatML knows no tools", "[text][chat]") {
  ChatOptions options;
  options.tools = {"{}"};
  CHECK(test::error_of([&] { (void)ChatML::render({}, true, options); }).code() == Errc::bad_argument);
  const std::vector<ChatMessage> result{{"tool", "x"}};
  CHECK(test::error_of([&] { (void)ChatML::render(result, true); }).code() == Errc::bad_argument);
  const std::vector<ChatMessage> call{{"assistant", "", "", {{"f", "{}"}}}};
  CHECK(test::error_of([&] { (void)ChatML::render(call, true); }).code() == Errc::bad_argument);
}

TEST_CASE("ChatML is recognised where it renders plain conversations the same", "[text][chat]") {
  CHECK(ChatML::recognises(plain_chatml));

  SECTION("as Qwen3 does, which adds tools and thinking by cases") {
    CHECK(ChatML::recognises(
        "{%- if tools %}{{- '<|im_start|>system\\n' }}{{- \"# Tools\" }}{%- else %}{%- if messages[0].role == 'system' "
        "%}"
        "{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}{%- endif %}"
        "{%- for message in messages %}{{- '\\n<think>\\n' + reasoning_content.strip('\\n') }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
        "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}"
        "{%- endif %}{%- endif %}"));
  }
  SECTION("not with a default system prompt") {
    const std::string prompt = "{{ '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}";
    CHECK_FALSE(ChatML::recognises(prompt + std::string(plain_chatml)));
  }
  SECTION("not with a think block opened for the answer") {
    CHECK_FALSE(
        ChatML::recognises(replaced(std::string(plain_chatml), "assistant\\n' }}", "assistant\\n<think>\\n' }}")));
    CHECK_FALSE(ChatML::recognises(std::string(plain_chatml) + "{{- '<think>\\n' }}"));
  }
  SECTION("not with contents trimmed, other separators or a beginning token") {
    CHECK_FALSE(
        ChatML::recognises(replaced(std::string(plain_chatml), "message['content']", "message['content']|trim")));
    CHECK_FALSE(ChatML::recognises(replaced(std::string(plain_chatml), "role'] + '\\n'", "role'] + '<|im_sep|>'")));
    CHECK_FALSE(ChatML::recognises("{{ bos_token }}" + std::string(plain_chatml)));
  }
  SECTION("not in other families") {
    CHECK_FALSE(ChatML::recognises("[gMASK]<sop>{% for m in messages %}<|user|>{{ m.content }}{% endfor %}"));
    CHECK_FALSE(ChatML::recognises(""));
  }
}

}  // namespace lazymoe::text
