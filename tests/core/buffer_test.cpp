#include <lazymoe/core/buffer.hpp>

#include <cstdint>
#include <utility>

#include "support/catch.hpp"

namespace lazymoe {

namespace {

bool is_aligned(const void* p, std::size_t alignment) { return reinterpret_cast<std::uintptr_t>(p) % alignment == 0; }

}  // namespace

TEST_CASE("AlignedBuffer lies where it was asked to and is as long", "[core]") {
  const auto alignment = GENERATE(std::size_t{64}, AlignedBuffer::page);
  const auto size = GENERATE(std::size_t{1}, std::size_t{63}, std::size_t{4096}, std::size_t{4097});
  CAPTURE(alignment, size);
  AlignedBuffer buffer(size, alignment);
  CHECK(is_aligned(buffer.data(), alignment));
  CHECK(buffer.bytes().size() == size);
  buffer.bytes().back() = std::byte{7};
  CHECK(std::as_const(buffer).bytes()[size - 1] == std::byte{7});
}

TEST_CASE("an empty AlignedBuffer owns nothing", "[core]") {
  const AlignedBuffer buffer(0);
  CHECK(buffer.empty());
  CHECK(buffer.data() == nullptr);
}

TEST_CASE("a moved AlignedBuffer keeps its address and leaves an empty one behind", "[core]") {
  AlignedBuffer from(100);
  const auto* const address = from.data();
  AlignedBuffer to(std::move(from));
  CHECK((to.data() == address && to.size() == 100));
  CHECK((from.empty() && from.data() == nullptr));

  AlignedBuffer assigned(5);
  assigned = std::move(to);
  CHECK((assigned.data() == address && assigned.size() == 100));
  CHECK((to.empty() && to.data() == nullptr));
}

TEST_CASE("AlignedArray is zero at first and leaves an empty one behind when it moves", "[core]") {
  AlignedArray<std::int32_t> from(1000);
  CHECK(is_aligned(from.data(), 64));
  CHECK(from.size() == 1000);
  for (const auto value : std::as_const(from).span()) CHECK(value == 0);
  from[999] = 3;

  const AlignedArray<std::int32_t> to(std::move(from));
  CHECK(to[999] == 3);
  CHECK(from.size() == 0);
  CHECK(from.span().empty());
}

}  // namespace lazymoe
