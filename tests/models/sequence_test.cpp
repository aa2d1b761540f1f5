#include <lazymoe/models/sequence.hpp>

#include <vector>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {

TEST_CASE("A sequence counts its positions and forgets from the end", "[models]") {
  const test::TempDir directory;
  const test::TinyMoe tiny;
  const test::Loaded loaded(tiny.write(directory.path()));
  const auto sequence = loaded.model.new_sequence({.n_ctx = 20});
  CHECK(sequence->length() == 0);
  CHECK(sequence->capacity() == 20);
  loaded.model.forward(*sequence, test::some_tokens(7, tiny.n_vocab), {});
  CHECK(sequence->length() == 7);
  CHECK(sequence->rewind(9) == 7);
  CHECK(sequence->length() == 7);
  CHECK(sequence->rewind(3) == 3);
  CHECK(sequence->length() == 3);
  CHECK(sequence->rewind(0) == 0);
  CHECK(sequence->length() == 0);
}

TEST_CASE("A sequence takes memory for keys and values of every layer and position", "[models]") {
  const test::TempDir directory;
  const test::TinyMoe tiny;
  const test::Loaded loaded(tiny.write(directory.path()));
  const std::size_t elements = tiny.n_layers * 20 * 2 * tiny.n_kv_heads * tiny.head_dim;
  CHECK(loaded.model.new_sequence({.n_ctx = 20, .kv_type = KvType::f16})->bytes() == 2 * elements);
  CHECK(loaded.model.new_sequence({.n_ctx = 20, .kv_type = KvType::f32})->bytes() == 4 * elements);
}

TEST_CASE("Sequences of one model do not see each other", "[models]") {
  const test::TempDir directory;
  const test::TinyMoe tiny;
  const test::Loaded loaded(tiny.write(directory.path()));
  const auto tokens = test::some_tokens(10, tiny.n_vocab);
  const auto expected = test::all_logits(loaded.model, tokens);

  const auto one = loaded.model.new_sequence();
  const auto other = loaded.model.new_sequence();
  std::vector<float> logits;
  for (const TokenId token : tokens) {
    const auto row = test::all_logits(loaded.model, *one, std::vector<TokenId>{token});
    logits.insert(logits.end(), row.begin(), row.end());
    loaded.model.forward(*other, test::some_tokens(3, tiny.n_vocab, 77), {});
  }
  CHECK(logits == expected);
}

}  // namespace lazymoe::models
