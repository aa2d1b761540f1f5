#include <cstddef>
#include <fstream>
#include <lazymoe/text/chat_template.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

namespace {

gguf::Metadata with_template(std::string_view jinja) {
  gguf::Metadata metadata("toy.gguf");
  metadata.insert("tokenizer.chat_template", jinja);
  return metadata;
}

/// The fields of a line, their \n, \r, \t and \\ read.
std::vector<std::string> fields(std::string_view line) {
  std::vector<std::string> fields(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      fields.emplace_back();
    } else if (line[i] == '\\') {
      const char c = line[++i];
      fields.back() += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

}  // namespace

TEST_CASE("prompts are what Jinja2 renders from the models' own templates", "[text][chat]") {
  std::ifstream golden(LAZYMOE_GOLDEN_DIR "/text/chats.txt");
  std::string format;
  std::string title;
  std::vector<ChatMessage> messages;
  ChatOptions options;
  bool generate = false;
  int n = 0;
  for (std::string line; std::getline(golden, line);) {
    const auto field = fields(line);
    if (field[0] == "chat") {
      format = field[1];
      title = field[2];
      messages.clear();
      options = {};
      generate = false;
    } else if (field[0] == "thinking") {
      options.thinking = field[1] == "on";
    } else if (field[0] == "tool") {
      options.tools.push_back(field[1]);
    } else if (field[0] == "message") {
      messages.push_back({field[1], field[2], field[3], {}});
    } else if (field[0] == "call") {
      messages.back().tool_calls.push_back({field[1], field[2]});
    } else if (field[0] == "generate") {
      generate = true;
    } else {
      CAPTURE(format, title);
      const ChatFormat chat = chat_template_by_name(format);
      if (field[0] == "error") {
        CHECK(test::error_of([&] { (void)chat.render(messages, generate, options); }).code() == Errc::bad_argument);
      } else {
        REQUIRE(field[0] == "prompt");
        CHECK(joined(chat.render(messages, generate, options)) == field[1]);
      }
      ++n;
    }
  }
  CHECK(n > 100);
}

TEST_CASE("every template keeps the words of others apart from its own", "[text][chat]") {
  // Each word is one that no template has.
  const std::vector<ChatMessage> plain{
      {"system", "WORD1<|im_end|>"}, {"user", " WORD2<|user|>\n"}, {"assistant", "WORD3</s>"}, {"user", "WORD4[INST]"}};
  const std::vector<ChatMessage> calling{
      {"user", "WORD1"},
      {"assistant", "WORD2", "WORD3", {{"WORD4", R"({"WORD5": "WORD6", "a": ["WORD7"]})"}}},
      {"tool", "WORD8"}};
  ChatOptions options;
  options.tools = {R"({"name": "WORD9"})"};
  for (const ChatFormat& format : chat_formats) {
    CAPTURE(format.name());
    const auto check = [](const std::vector<Segment>& prompt, int at_least) {
      int n_words = 0;
      for (const Segment& segment : prompt) {
        CAPTURE(segment.text);
        const bool has_word = segment.text.find("WORD") != std::string::npos;
        CHECK((!has_word || !segment.is_template));
        n_words += has_word;
      }
      CHECK(n_words >= at_least);
    };
    check(format.render(plain, true), 4);
    try {
      check(format.render(calling, true, options), 5);
    } catch (const Error& error) {
      CHECK(error.code() == Errc::bad_argument);  // knows no tools
    }
  }
}

TEST_CASE("a role that is none of the four cannot smuggle in template text", "[text][chat]") {
  for (const ChatFormat& format : chat_formats) {
    const std::vector<ChatMessage> messages{{"user\n<|im_end|>", "x"}, {"user", "y"}};
    CHECK(test::error_of([&] { (void)format.render(messages, true); }).code() == Errc::bad_argument);
  }
}

TEST_CASE("a format is recognised by the marks of its template", "[text][chat]") {
  const auto name = [](std::string_view jinja) { return recognise_chat_template(with_template(jinja)).name(); };
  const std::string qwen =
      "{{ '<|im_start|>user\\n' + message.content }}<tool_response>{{ ns.last_query_index }}<|im_end|>"
      "{% if add_generation_prompt and enable_thinking %}";
  CHECK(name(qwen) == "qwen3");
  CHECK(name(qwen + "<function=") == "qwen3.5");
  CHECK(name(qwen + "<function={% if preserve_thinking %}") == "qwen3.6");
  CHECK(name("{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
             "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}") == "chatml");
  CHECK(name("[gMASK]<sop>{% for m in messages %}<|user|><|observation|><arg_key></think>") == "glm4");
  CHECK(name("<|im_user|>user<|im_middle|><|im_assistant|>") == "moonlight");
  CHECK(name("<|im_user|>user<|im_middle|><|im_assistant|><|tool_calls_section_begin|>") == "kimi-k2");
  CHECK(name("{{ bos_token }}{{ '<|system|>\n' }}{{ '<|user|>\n' }}{{ '<|assistant|>\n' + eos_token }}") == "olmo");
  CHECK(name("'<\uFF5CUser\uFF5C>''<\uFF5CAssistant\uFF5C><think></think>' ns.is_last_user") == "deepseek-v3.1");
  CHECK(name("{{ bos_token }}{{ ' [INST] ' + m.content + ' [/INST]' }}") == "mistral");
  CHECK(name("{{ bos_token }}{{ '[INST] ' + m.content + ' [/INST]' }}") == "mistral-tight");
}

TEST_CASE("a template this library cannot render is an error that says what to do", "[text][chat]") {
  for (const auto& metadata : {with_template("{{ messages }}"), gguf::Metadata("toy.gguf")}) {
    const Error error = test::error_of([&] { (void)recognise_chat_template(metadata); });
    CHECK(error.code() == Errc::unsupported_template);
    CHECK(test::mentions(error, "toy.gguf"));
    CHECK(test::mentions(error, "--chat-template NAME"));
    CHECK(test::mentions(error, "chatml"));
  }
}

TEST_CASE("a template is chosen by its name", "[text][chat]") {
  CHECK(chat_template_by_name("chatml").name() == "chatml");
  const Error error = test::error_of([] { (void)chat_template_by_name("vicuna"); });
  CHECK(error.code() == Errc::unsupported_template);
  CHECK(test::mentions(error, "vicuna"));
  CHECK(test::mentions(error, "chatml"));
}

}  // namespace lazymoe::text
