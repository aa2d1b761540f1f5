#include <cstdint>
#include <lazymoe/text/end_tokens.hpp>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

namespace {

Vocabulary controls(const std::vector<std::string_view>& texts) {
  Vocabulary vocabulary(texts.size());
  for (const std::string_view text : texts) vocabulary.add(text, TokenKind::control, false);
  return vocabulary;
}

}  // namespace

TEST_CASE("generation ends at tokens that keys name and at those with the text of an end marker", "[text][end]") {
  gguf::Metadata metadata("toy.gguf");
  metadata.insert("tokenizer.ggml.eos_token_id", std::uint32_t{3});
  metadata.insert("tokenizer.ggml.eot_token_id", std::uint32_t{0});
  metadata.insert("tokenizer.ggml.padding_token_id", std::uint32_t{4});
  const auto vocabulary = controls({"<|user|>", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "x", "<|file_sep|>"});
  CHECK(end_tokens(metadata, vocabulary) == std::vector<TokenId>{0, 2, 3, 5});
}

TEST_CASE("an end marker of inner messages is none beside the real ones", "[text][end]") {
  const gguf::Metadata metadata("toy.gguf");
  CHECK(end_tokens(metadata, controls({"<|end|>", "<|return|>", "<|call|>"})) == std::vector<TokenId>{1, 2});
  CHECK(end_tokens(metadata, controls({"<|end|>", "<|return|>"})) == std::vector<TokenId>{0, 1});
  CHECK(end_tokens(metadata, controls({"<|end|>", "<|calls|>", "<|flush|>"})) == std::vector<TokenId>{1, 2});
  CHECK(end_tokens(metadata, controls({"</s>", "<|tool_response>"})) == std::vector<TokenId>{1});
  CHECK(end_tokens(metadata, controls({"</s>"})) == std::vector<TokenId>{0});
}

TEST_CASE("a key that names no token is an error that says so", "[text][end]") {
  gguf::Metadata metadata("toy.gguf");
  metadata.insert("tokenizer.ggml.eom_token_id", std::uint32_t{2});
  const Error error = test::error_of([&] { (void)end_tokens(metadata, controls({"a", "b"})); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "eom_token_id"));
  CHECK(test::mentions(error, "2 tokens"));
}

}  // namespace lazymoe::text
