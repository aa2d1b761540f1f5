#include <lazymoe/models/state.hpp>

#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

constexpr KvCache::Shape shape{.n_layers = 3, .n_ctx = 5, .key_width = 24, .value_width = 12};

std::vector<float> to_vector(const CachedRows& rows, std::size_t n) { return {rows.first, rows.first + n}; }

std::vector<float> value_of(const KvCache& cache, LayerIndex layer, std::size_t position, std::size_t first,
                            std::size_t n) {
  std::vector<float> scratch(n);
  return to_vector(cache.values(layer, position, 1, first, n, scratch.data()), n);
}

std::vector<float> key_of(const KvCache& cache, LayerIndex layer, std::size_t position, std::size_t first,
                          std::size_t n) {
  std::vector<float> scratch(n);
  return to_vector(cache.keys(layer, position, 1, first, n, scratch.data()), n);
}

}  // namespace

TEST_CASE("A cache of floats gives back what was written", "[models]") {
  KvCache cache(shape, KvType::f32);
  CHECK(cache.capacity() == 5);
  CHECK(cache.bytes() == 3 * 5 * (24 + 12) * 4);
  test::Noise noise(1);
  std::vector<std::vector<float>> keys;
  std::vector<std::vector<float>> values;
  for (std::size_t i = 0; i < 15; ++i) {
    keys.push_back(noise.values(24));
    values.push_back(noise.values(12));
    cache.write(static_cast<LayerIndex>(i / 5), i % 5, keys.back(), values.back());
  }
  for (std::size_t i = 0; i < 15; ++i) {
    const auto layer = static_cast<LayerIndex>(i / 5);
    CHECK(value_of(cache, layer, i % 5, 0, 12) == values[i]);
    CHECK(value_of(cache, layer, i % 5, 4, 3) == std::vector<float>(values[i].begin() + 4, values[i].begin() + 7));
    CHECK(key_of(cache, layer, i % 5, 0, 24) == keys[i]);
    CHECK(key_of(cache, layer, i % 5, 16, 8) == std::vector<float>(keys[i].begin() + 16, keys[i].end()));
  }
}

TEST_CASE("A cache of halves gives back the nearest halves, in half the memory", "[models]") {
  KvCache cache(shape, KvType::f16);
  CHECK(cache.bytes() == 3 * 5 * (24 + 12) * 2);
  test::Noise noise(2);
  std::vector<float> key = noise.values(24, 100.0F);
  std::vector<float> value = noise.values(12, 1e-5F);
  value[0] = 65520.0F;  // rounds to infinity
  value[1] = -0.0F;
  cache.write(1, 2, key, value);
  for (float& v : key) v = quant::to_float(quant::to_half(v));
  for (float& v : value) v = quant::to_float(quant::to_half(v));
  CHECK(value_of(cache, 1, 2, 0, 12) == value);
  CHECK(key_of(cache, 1, 2, 0, 24) == key);
}

TEST_CASE("Positions count once they are advanced over, and can be taken back", "[models]") {
  KvCache cache(shape, KvType::f16);
  CHECK(cache.length() == 0);
  cache.advance(3);
  cache.advance(2);
  CHECK(cache.length() == cache.capacity());
  cache.rewind(7);
  CHECK(cache.length() == 5);
  cache.rewind(1);
  CHECK(cache.length() == 1);
  cache.rewind(0);
  CHECK(cache.length() == 0);
}

TEST_CASE("What was taken back is written over, and what was not stays", "[models]") {
  KvCache cache(shape, KvType::f32);
  test::Noise noise(4);
  const auto kept = noise.values(12);
  const auto replaced = noise.values(12);
  cache.write(2, 0, noise.values(24), kept);
  cache.write(2, 1, noise.values(24), noise.values(12));
  cache.advance(2);
  cache.rewind(1);
  cache.write(2, 1, noise.values(24), replaced);
  CHECK(value_of(cache, 2, 0, 0, 12) == kept);
  CHECK(value_of(cache, 2, 1, 0, 12) == replaced);
}

}  // namespace lazymoe::models
