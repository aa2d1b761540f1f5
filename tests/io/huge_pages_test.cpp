#include <lazymoe/io/huge_pages.hpp>

#include <algorithm>
#include <cstddef>

#include <lazymoe/core/buffer.hpp>

#include "support/catch.hpp"

namespace lazymoe::io {

TEST_CASE("A buffer that prefers huge pages holds what is written to it", "[io]") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{9} << 20}) {
    AlignedBuffer buffer(bytes, AlignedBuffer::page);
    prefer_huge_pages(buffer.bytes());
    std::fill_n(buffer.data(), bytes, std::byte{7});
    CHECK(std::count(buffer.data(), buffer.data() + bytes, std::byte{7}) == static_cast<std::ptrdiff_t>(bytes));
  }
}

}  // namespace lazymoe::io
