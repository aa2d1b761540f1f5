#include <lazymoe/gguf/limits.hpp>

#include "support/catch.hpp"

namespace lazymoe::gguf {

// Offsets into a header, rounded up to the largest alignment, must not wrap, and neither must byte counts of arrays.
static_assert(Limits::header_bytes + (Bytes{1} << 31) > Limits::header_bytes);
static_assert(Limits::array_elems * 8 < Limits::header_bytes);

TEST_CASE("The limits leave room for the largest vocabularies", "[gguf]") {
  STATIC_REQUIRE(Limits::array_elems > 10 * 450'000);
  STATIC_REQUIRE(Limits::header_bytes > 10 * Bytes{15'000'000});
}

}  // namespace lazymoe::gguf
