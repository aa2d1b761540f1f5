#include <lazymoe/models/cached_vectors.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

/// The `n` elements from `first` on of `count` positions, side by side.
std::vector<float> part(const CachedVectors& cache, LayerIndex layer, std::size_t position, std::size_t first,
                        std::size_t n, std::size_t count = 1) {
  std::vector<float> scratch(n * count);
  const CachedRows rows = cache.rows(layer, position, count, first, n, scratch.data());
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = rows.first + i * rows.stride;
    out.insert(out.end(), row, row + n);
  }
  return out;
}

}  // namespace

TEST_CASE("Each layer and position has a vector of its own", "[models]") {
  const KvType type = GENERATE(KvType::f16, KvType::f32);
  CachedVectors cache(3, 5, 20, type);
  CHECK(cache.width() == 20);
  CHECK(cache.bytes() == 3 * 5 * 20 * (type == KvType::f32 ? 4 : 2));
  test::Noise noise(1);
  std::vector<std::vector<float>> written;
  for (std::size_t i = 0; i < 15; ++i) {
    written.push_back(noise.values(20));
    if (type == KvType::f16) {
      for (float& x : written.back()) x = quant::to_float(quant::to_half(x));
    }
    cache.write(static_cast<LayerIndex>(i / 5), i % 5, written.back());
  }
  for (std::size_t i = 0; i < 15; ++i) {
    const auto layer = static_cast<LayerIndex>(i / 5);
    const auto& x = written[i];
    CHECK(part(cache, layer, i % 5, 0, 20) == x);
    CHECK(part(cache, layer, i % 5, 7, 5) == std::vector<float>(x.begin() + 7, x.begin() + 12));
  }
  std::vector<float> three;
  for (std::size_t i = 6; i < 9; ++i) three.insert(three.end(), written[i].begin() + 7, written[i].begin() + 12);
  CHECK(part(cache, 1, 1, 7, 5, 3) == three);
}

}  // namespace lazymoe::models
