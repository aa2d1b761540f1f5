#include <array>
#include <lazymoe/quant/encode/tables.hpp>

#include "support/catch.hpp"

using namespace lazymoe::quant;

TEST_CASE("every entry of a table is nearest to itself", "[quant][encode]") {
  for (unsigned i = 0; i < 16; ++i) {
    CHECK(detail::NearestIq4{}(iq4_values[i]) == i);
    CHECK(mxfp4_values[detail::NearestMxfp4{}(mxfp4_values[i])] == mxfp4_values[i]);
  }
  CHECK(detail::NearestMxfp4{}(-0.4F) == 0);
}

TEST_CASE("IQ4_NL and MXFP4 keep their own values", "[quant][encode]") {
  std::array<float, 32> x{};
  std::array<float, 32> w{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5F * static_cast<float>(iq4_values[i % 16]);
  IQ4_NL::decode(Encoder<IQ4_NL>::run(x), w);
  CHECK(w == x);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0x1p-9F * static_cast<float>(mxfp4_values[i % 16]);
  MXFP4::decode(Encoder<MXFP4>::run(x), w);
  CHECK(w == x);
}
