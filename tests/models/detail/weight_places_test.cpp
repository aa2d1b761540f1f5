#include <lazymoe/models/detail/weight_places.hpp>

#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models::detail {

TEST_CASE("The numbers of a tensor go to every place that wants them", "[models]") {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const auto bytes = std::as_bytes(std::span(x));
  gguf::TensorInfo info;
  info.name = "t";
  info.type = quant::TypeId::f32;
  info.dims = {2, 3, 1, 1};
  info.bytes = bytes.size();
  quant::PackedMatrix lower{.type = quant::TypeId::f32, .rows = 2, .cols = 2, .bytes = {}};
  std::vector<float> middle;
  std::vector<float> transposed;
  WeightPlaces places;
  places.matrices.push_back({&lower, 1});
  places.vectors.push_back({&middle, 2, 3});
  places.transposed.push_back(&transposed);
  places.place(info, "m.gguf", bytes);
  CHECK(lower.bytes.data() == bytes.data() + 2 * sizeof(float));
  CHECK(lower.bytes.size() == 4 * sizeof(float));
  CHECK(middle == std::vector<float>{3, 4, 5});
  CHECK(transposed == std::vector<float>{1, 3, 5, 2, 4, 6});
}

TEST_CASE("Zero and what is not a number are not negative", "[models]") {
  for (const float bad : {0.0F, -0.0F, 0.5F, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> x{-1.0F, bad};
    gguf::TensorInfo info;
    info.name = "rates";
    info.type = quant::TypeId::f32;
    info.dims = {2, 1, 1, 1};
    std::vector<float> to;
    WeightPlaces places;
    places.vectors.push_back({&to, 0, 2});
    places.negative = true;
    const Error error = test::error_of([&] { places.place(info, "m.gguf", std::as_bytes(std::span(x))); });
    CHECK(error.code() == Errc::bad_tensor);
    CHECK(test::mentions(error, "m.gguf: tensor rates must be negative throughout, but number 1 is "));
  }
}

}  // namespace lazymoe::models::detail
