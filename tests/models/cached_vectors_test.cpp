#include <lazymoe/models/cached_vectors.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

std::vector<float> part(const CachedVectors& cache, LayerIndex layer, std::size_t position, std::size_t first,
                        std::size_t n) {
  std::vector<float> scratch(n);
  const float* x = cache.get(layer, position, first, n, scratch.data());
  return {x, x + n};
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
}

TEST_CASE("A query meets a part of a cached vector", "[models]") {
  const KvType type = GENERATE(KvType::f16, KvType::f32);
  CachedVectors cache(1, 1, 24, type);
  test::Noise noise(2);
  const auto x = noise.values(24);
  cache.write(0, 0, x);
  const auto query = noise.values(8);
  double expected = 0.0;
  for (std::size_t i = 0; i < 8; ++i) {
    const float v = type == KvType::f32 ? x[16 + i] : quant::to_float(quant::to_half(x[16 + i]));
    expected += static_cast<double>(v) * static_cast<double>(query[i]);
  }
  CHECK(static_cast<double>(cache.dot(0, 0, 16, query)) == Approx(expected).epsilon(1e-5));
}

}  // namespace lazymoe::models
