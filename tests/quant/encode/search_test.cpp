#include <array>
#include <cmath>
#include <lazymoe/quant/encode/search.hpp>

#include "support/catch.hpp"

using namespace lazymoe::quant;

TEST_CASE("numbers that are multiples of a scale give that scale", "[quant][encode]") {
  std::array<float, 16> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.375F * static_cast<float>(static_cast<int>(i) * 4 - 32);
  CHECK(std::abs(detail::search_scale(x, -32.0F, 31.0F) - 0.375F) < 1e-6F);
  CHECK(detail::search_scale(std::array<float, 16>{}, -32.0F, 31.0F) == 0.0F);
}

TEST_CASE("numbers on a line give its step and its beginning", "[quant][encode]") {
  std::array<float, 16> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5F * static_cast<float>(i) - 3.0F;
  const auto fit = detail::search_scale_and_min(x, 15.0F);
  CHECK(std::abs(fit.d - 0.5F) < 1e-6F);
  CHECK(std::abs(fit.min - 3.0F) < 1e-5F);
}

TEST_CASE("a minimum is never negative, and equal numbers are their minimum", "[quant][encode]") {
  std::array<float, 16> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 5.0F + static_cast<float>(i);
  CHECK(detail::search_scale_and_min(x, 15.0F).min >= 0.0F);
  x.fill(-2.0F);
  const auto fit = detail::search_scale_and_min(x, 15.0F);
  CHECK(fit.d == 0.0F);
  CHECK(fit.min == 2.0F);
}
