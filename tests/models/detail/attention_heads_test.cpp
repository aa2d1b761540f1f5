#include <lazymoe/models/detail/attention_heads.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models::detail {
namespace {

/// Keys and values of one head, and queries of all that share it.
struct Inputs {
  Inputs(const AttentionHeads& shape, std::uint64_t seed) {
    test::Noise noise(seed);
    keys = noise.values(shape.n_positions * shape.key_dim);
    values = noise.values(shape.n_positions * shape.value_dim);
    queries = noise.values(shape.n_heads * shape.key_dim);
  }
  std::vector<float> keys, values, queries;
};

std::vector<float> run(const AttentionHeads& heads, const Inputs& in) {
  std::vector<float> sums(heads.n_heads * heads.value_dim);
  AlignedArray<float> scratch(heads.scratch());
  heads.run([&](std::size_t first, std::size_t, float*) {
              return CachedRows{in.keys.data() + first * heads.key_dim, heads.key_dim};
            },
            [&](std::size_t first, std::size_t, float*) {
              return CachedRows{in.values.data() + first * heads.value_dim, heads.value_dim};
            },
            in.queries.data(), sums.data(), scratch.data());
  return sums;
}

/// The same position by position, in the order of sums that is promised.
std::vector<float> plainly(const AttentionHeads& heads, const Inputs& in) {
  std::vector<float> sums;
  for (std::size_t h = 0; h < heads.n_heads; ++h) {
    std::vector<float> scores;
    for (std::size_t p = 0; p < heads.n_positions; ++p) {
      const float dot = tensor::dot({in.keys.data() + p * heads.key_dim, heads.key_dim},
                                    {in.queries.data() + h * heads.key_dim, heads.key_dim});
      scores.push_back(p < heads.n_unseen ? -std::numeric_limits<float>::infinity() : heads.scale * dot);
    }
    simd::softmax(scores.data(), scores.size(), heads.sinks == nullptr ? nullptr : heads.sinks + h);
    std::vector<std::vector<float>> partial(8, std::vector<float>(heads.value_dim));
    for (std::size_t p = heads.n_unseen; p < heads.n_positions; ++p) {
      simd::add_scaled(scores[p], in.values.data() + p * heads.value_dim, partial[p % 8].data(), heads.value_dim);
    }
    for (std::size_t half = 4; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) simd::add(partial[i + half].data(), partial[i].data(), heads.value_dim);
    }
    sums.insert(sums.end(), partial[0].begin(), partial[0].end());
  }
  return sums;
}

}  // namespace

TEST_CASE("Heads attend in the order that positions give, whatever the block they lie in", "[models]") {
  const std::vector<float> sinks{0.5F, -1.0F, 3.0F};
  for (const std::size_t n : {1U, 7U, 8U, 31U, 32U, 33U, 100U}) {
    for (const std::size_t n_unseen : {0U, 3U, 40U}) {
      if (n_unseen >= n) continue;
      for (const std::size_t value_dim : {1U, 16U, 37U}) {
        AttentionHeads heads{.n_heads = 3,
                             .n_positions = n,
                             .n_unseen = n_unseen,
                             .key_dim = 20,
                             .value_dim = value_dim,
                             .scale = 0.3F};
        const Inputs in(heads, 5);
        CAPTURE(n, n_unseen, value_dim);
        CHECK(run(heads, in) == plainly(heads, in));
        heads.sinks = sinks.data();
        CHECK(run(heads, in) == plainly(heads, in));
      }
    }
  }
}

TEST_CASE("Heads read nothing before the window but to the last multiple of eight", "[models]") {
  const AttentionHeads heads{.n_heads = 1, .n_positions = 90, .n_unseen = 45, .key_dim = 4, .value_dim = 4};
  const Inputs in(heads, 6);
  std::size_t least = heads.n_positions;
  std::vector<float> sums(4);
  AlignedArray<float> scratch(heads.scratch());
  const auto rows = [&](std::size_t first, std::size_t, float*) {
    least = std::min(least, first);
    return CachedRows{in.keys.data() + first * 4, 4};
  };
  heads.run(rows, rows, in.queries.data(), sums.data(), scratch.data());
  CHECK(least == 40);
}

TEST_CASE("Every piece of work has scratch that no other has meanwhile", "[models]") {
  const AttentionHeads largest{.n_heads = 2, .n_positions = 9, .key_dim = 4, .value_dim = 4};
  parallel::ThreadPool pool(3);
  for (const std::size_t n : {0U, 1U, 5U, 100U}) {
    std::vector<std::atomic<int>> calls(n);
    std::atomic<int> n_spoilt = 0;
    for_each_with_scratch(n, largest, pool, [&](std::size_t i, float* scratch) {
      std::fill_n(scratch, largest.scratch(), static_cast<float>(i));
      ++calls[i];
      if (std::any_of(scratch, scratch + largest.scratch(), [&](float x) { return x != static_cast<float>(i); })) {
        ++n_spoilt;
      }
    });
    CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& c) { return c == 1; }));
    CHECK(n_spoilt == 0);
  }
}

}  // namespace lazymoe::models::detail
