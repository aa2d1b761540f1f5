#include <lazymoe/models/detail/unsplit_heads.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models::detail {

TEST_CASE("Heads whose keys and values lie in one matrix are told apart by their rows", "[models]") {
  constexpr std::size_t n_heads = 3;
  constexpr std::size_t n_keys = 5;
  constexpr std::size_t n_values = 4;
  constexpr std::size_t rank = 12;
  constexpr std::size_t n_tokens = 2;
  test::Noise noise(1);
  const auto weights = noise.values(n_heads * (n_keys + n_values) * rank);
  const quant::PackedMatrix both{.type = quant::TypeId::f32,
                                 .rows = n_heads * (n_keys + n_values),
                                 .cols = rank,
                                 .bytes = std::as_bytes(std::span(weights))};
  const UnsplitHeads heads{.both = &both, .n_heads = n_heads, .n_key_rows = n_keys, .n_value_rows = n_values};
  // A token's queries lie further apart than they are wide, as those of a whole head do.
  const auto queries = noise.values(n_tokens * n_heads * (n_keys + 2));
  const auto latents = noise.values(n_tokens * n_heads * rank);
  std::vector<float> sums(n_tokens * n_heads * rank, 7.0F);
  std::vector<float> out(n_tokens * n_heads * n_values, 7.0F);
  parallel::ThreadPool pool(2);
  heads.absorb_keys(n_tokens, {queries.data(), n_heads * (n_keys + 2), n_keys + 2},
                    {sums.data(), n_heads * rank, rank}, pool);
  heads.apply_values(n_tokens, {latents.data(), n_heads * rank, rank}, {out.data(), n_heads * n_values, n_values},
                     pool);
  for (std::size_t t = 0; t < n_tokens; ++t) {
    for (std::size_t h = 0; h < n_heads; ++h) {
      const float* head = weights.data() + h * (n_keys + n_values) * rank;
      const float* query = queries.data() + (t * n_heads + h) * (n_keys + 2);
      const float* latent = latents.data() + (t * n_heads + h) * rank;
      CAPTURE(t, h);
      for (std::size_t r = 0; r < rank; ++r) {
        float sum = 0.0F;
        for (std::size_t i = 0; i < n_keys; ++i) sum += query[i] * head[i * rank + r];
        CHECK(std::abs(sums[(t * n_heads + h) * rank + r] - sum) < 1e-5F);
      }
      for (std::size_t i = 0; i < n_values; ++i) {
        float sum = 0.0F;
        for (std::size_t r = 0; r < rank; ++r) sum += head[(n_keys + i) * rank + r] * latent[r];
        CHECK(std::abs(out[(t * n_heads + h) * n_values + i] - sum) < 1e-5F);
      }
    }
  }
}

TEST_CASE("Numbers are rounded as a weight of their kind would have them, block by block", "[models]") {
  test::Noise noise(2);
  auto x = noise.values(64);
  for (std::size_t i = 32; i < 64; ++i) x[i] *= 100.0F;  // a block of its own scale
  auto rounded = x;
  round_as_activation(quant::ActivationKind::q8_0, rounded);
  CHECK(rounded != x);
  for (std::size_t i = 0; i < 64; ++i) CHECK(std::abs(rounded[i] - x[i]) <= (i < 32 ? 1.0F : 100.0F) / 127.0F);
  auto again = rounded;
  round_as_activation(quant::ActivationKind::q8_0, again);
  for (std::size_t i = 0; i < 64; ++i) CHECK(std::abs(again[i] - rounded[i]) <= 1e-3F * std::abs(rounded[i]));
}

}  // namespace lazymoe::models::detail
