#include <array>
#include <cstdint>
#include <lazymoe/quant/encode/q4_q5_k.hpp>

#include "support/catch.hpp"

using namespace lazymoe::quant;

TEST_CASE("scales and minimums of groups survive packing", "[quant][encode]") {
  std::array<std::uint8_t, 12> packed{};
  const auto params = [](std::size_t g) {
    return GroupParams{static_cast<std::uint8_t>(63 - 7 * g), static_cast<std::uint8_t>(9 * g)};
  };
  for (std::size_t g = 0; g < 8; ++g) detail::pack_group_params(packed, g, params(g));
  for (std::size_t g = 0; g < 8; ++g) {
    CHECK(unpack_group_params(packed, g).scale == params(g).scale);
    CHECK(unpack_group_params(packed, g).min == params(g).min);
  }
}

TEST_CASE("Q4_K and Q5_K keep numbers that lie on their grid", "[quant][encode]") {
  std::array<float, 256> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 16) - 7.875F;
  std::array<float, 256> w{};
  Q4_K::decode(Encoder<Q4_K>::run(x), w);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(w[i] - x[i]) < 0.01F);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 32) - 15.75F;
  Q5_K::decode(Encoder<Q5_K>::run(x), w);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(w[i] - x[i]) < 0.02F);
}
