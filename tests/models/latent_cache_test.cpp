#include <lazymoe/models/latent_cache.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

std::vector<float> as_kept(std::vector<float> x, KvType type) {
  if (type == KvType::f16) {
    for (float& v : x) v = quant::to_float(quant::to_half(v));
  }
  return x;
}

/// The first `n_elems` of `n` vectors, side by side.
std::vector<float> get(const LatentCache& cache, LayerIndex layer, std::size_t first, std::size_t n,
                       std::size_t n_elems) {
  std::vector<float> scratch(n * cache.width());
  const CachedRows rows = cache.get(layer, first, n, n_elems, scratch.data());
  std::vector<float> out;
  for (std::size_t i = 0; i < n; ++i) {
    const float* row = rows.first + i * rows.stride;
    out.insert(out.end(), row, row + n_elems);
  }
  return out;
}

}  // namespace

TEST_CASE("A cache of latent vectors gives runs of them, whole or their beginnings", "[models]") {
  const KvType type = GENERATE(KvType::f16, KvType::f32);
  LatentCache cache(2, 6, 10, type);
  CHECK(cache.capacity() == 6);
  CHECK(cache.width() == 10);
  CHECK(cache.bytes() == 2 * 6 * 10 * (type == KvType::f32 ? 4 : 2));
  test::Noise noise(1);
  std::vector<std::vector<float>> written;
  for (std::size_t i = 0; i < 12; ++i) {
    written.push_back(as_kept(noise.values(10), type));
    cache.write(static_cast<LayerIndex>(i / 6), i % 6, written.back());
  }
  for (const std::size_t n_elems : {10U, 7U, 1U}) {
    std::vector<float> expected;
    for (std::size_t i = 7; i < 11; ++i) {
      expected.insert(expected.end(), written[i].begin(), written[i].begin() + static_cast<std::ptrdiff_t>(n_elems));
    }
    CHECK(get(cache, 1, 1, 4, n_elems) == expected);
  }
  CHECK(get(cache, 0, 5, 1, 10) == written[5]);
}

TEST_CASE("Latent vectors count once they are advanced over, and can be taken back", "[models]") {
  LatentCache cache(1, 5, 4, KvType::f32);
  CHECK(cache.length() == 0);
  cache.advance(5);
  CHECK(cache.length() == cache.capacity());
  cache.keep();
  cache.abandon();
  CHECK(cache.rewind(7) == 5);
  CHECK(cache.rewind(2) == 2);
  CHECK(cache.length() == 2);
}

TEST_CASE("Latent vectors that were taken back are written over, and others stay", "[models]") {
  LatentCache cache(1, 2, 3, KvType::f32);
  const std::vector<float> kept{1.0F, 2.0F, 3.0F};
  const std::vector<float> replaced{4.0F, 5.0F, 6.0F};
  cache.write(0, 0, kept);
  cache.write(0, 1, std::vector<float>{7.0F, 8.0F, 9.0F});
  cache.advance(2);
  cache.rewind(1);
  cache.write(0, 1, replaced);
  CHECK(get(cache, 0, 0, 1, 3) == kept);
  CHECK(get(cache, 0, 1, 1, 3) == replaced);
}

}  // namespace lazymoe::models
