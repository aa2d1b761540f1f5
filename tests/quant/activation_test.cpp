#include <lazymoe/quant/activation.hpp>

#include <cstddef>
#include <cstring>
#include <lazymoe/core/buffer.hpp>
#include <span>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

TEST_CASE("the bytes of an activation follow from its kind", "[quant][activation]") {
  CHECK(activation_bytes(ActivationKind::f32, 2048) == 8192);
  CHECK(activation_bytes(ActivationKind::f16, 2048) == 8192);
  CHECK(activation_bytes(ActivationKind::bf16, 2048) == 8192);
  CHECK(activation_bytes(ActivationKind::q8_0, 2048) == 64 * 64);
  CHECK(activation_bytes(ActivationKind::q8_1, 2048) == 64 * 40);
  CHECK(activation_bytes(ActivationKind::q8_K, 2048) == 8 * 320);
}

TEST_CASE("a kind known at run time rounds as the one known while compiling", "[quant][activation]") {
  std::vector<float> x(512);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 37) - 17.25F;

  const auto check = [&]<ActivationKind Kind>() {
    using Block = typename ActivationTraits<Kind>::Block;
    std::vector<Block> expected(x.size() / ActivationTraits<Kind>::block_elems);
    quantize<Kind>(x, expected);
    AlignedBuffer bytes(activation_bytes(Kind, x.size()));
    std::memset(bytes.data(), 0, bytes.size());  // what lies between numbers is not written
    quantize_activation(Kind, x, bytes.bytes());
    REQUIRE(bytes.size() == expected.size() * sizeof(Block));
    CHECK(std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0);
  };
  using enum ActivationKind;
  for (const auto kind : {f32, f16, bf16, q8_0, q8_1, q8_K}) visit_activation(kind, check);
}
