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

TEST_CASE("A buffer given back reads as zeros where it held whole pages, and can be written again", "[io]") {
  AlignedBuffer buffer(5 * AlignedBuffer::page, AlignedBuffer::page);
  std::fill_n(buffer.data(), buffer.size(), std::byte{7});
  give_back(buffer.bytes().subspan(100, 3 * AlignedBuffer::page));
  const auto n_zeros = std::count(buffer.data(), buffer.data() + buffer.size(), std::byte{0});
  CHECK(n_zeros == 2 * AlignedBuffer::page);
  CHECK(buffer.data()[AlignedBuffer::page - 1] == std::byte{7});
  CHECK(buffer.data()[3 * AlignedBuffer::page] == std::byte{7});
  buffer.data()[AlignedBuffer::page] = std::byte{9};
  CHECK(buffer.data()[AlignedBuffer::page] == std::byte{9});
  give_back({});
}

}  // namespace lazymoe::io
