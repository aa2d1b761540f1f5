#include <lazymoe/experts/slice_math.hpp>

#include "support/catch.hpp"

namespace lazymoe::experts {
namespace {

/// The gate_up of a layer in Q4_K (256 weights in 144 bytes): 128 experts of 2 * 768 rows of 2048.
constexpr ExpertTensor gate_up{
    .shard = 2, .offset = 4096, .cols = 2048, .rows = 1536, .experts = 128, .block_elems = 256, .block_bytes = 144};

constexpr ExpertTensor with(ExpertTensor tensor, std::uint64_t ExpertTensor::*field, std::uint64_t value) {
  tensor.*field = value;
  return tensor;
}

constexpr std::uint64_t huge = ~std::uint64_t{0};

}  // namespace

static_assert(packed_row_bytes(gate_up) == 8U * 144);
static_assert(packed_bytes(gate_up) == 128U * 1536 * 8 * 144);

static_assert(expert_slice(gate_up, 0) == SliceRef{2, 4096, 1536 * 1152});
static_assert(expert_slice(gate_up, 127) == SliceRef{2, 4096 + Bytes{127} * 1536 * 1152, 1536 * 1152});
static_assert(!expert_slice(gate_up, 128));

// Gate and up are the halves of the fused matrix.
static_assert(row_slice(gate_up, 3, 0, 768) == SliceRef{2, 4096 + Bytes{3 * 1536} * 1152, 768 * 1152});
static_assert(row_slice(gate_up, 3, 768, 768) == SliceRef{2, 4096 + Bytes{3 * 1536 + 768} * 1152, 768 * 1152});
static_assert(row_slice(gate_up, 3, 1536, 0)->bytes == 0);
static_assert(!row_slice(gate_up, 3, 768, 769));
static_assert(!row_slice(gate_up, 3, 1537, 0));
static_assert(!row_slice(gate_up, 3, huge, 2));

// What a broken file may claim gives nullopt, not a wrapped number.
static_assert(!expert_slice(with(gate_up, &ExpertTensor::cols, 2047), 0));
static_assert(!expert_slice(with(gate_up, &ExpertTensor::block_elems, 0), 0));
static_assert(!expert_slice(with(gate_up, &ExpertTensor::block_bytes, huge), 0));
static_assert(!expert_slice(with(gate_up, &ExpertTensor::rows, huge), 0));
static_assert(!expert_slice(with(gate_up, &ExpertTensor::experts, huge), 0));
static_assert(!expert_slice(with(gate_up, &ExpertTensor::offset, huge), 0));

TEST_CASE("The slices of all experts tile their tensor", "[experts]") {
  Bytes end = gate_up.offset;
  for (ExpertIndex expert = 0; expert < gate_up.experts; ++expert) {
    const auto slice = expert_slice(gate_up, expert);
    REQUIRE(slice.has_value());
    REQUIRE(slice->offset == end);
    end += slice->bytes;
  }
  CHECK(end == gate_up.offset + *packed_bytes(gate_up));
}

}  // namespace lazymoe::experts
