#include <lazymoe/storage/storage.hpp>

#include "support/catch.hpp"

namespace lazymoe::storage {
namespace {

/// The least a storage can be: files of no bytes.
struct Nothing {
  static constexpr std::string_view name = "nothing";
  explicit Nothing(std::span<const std::filesystem::path>) {}
  Bytes footprint(const experts::SliceRef&) const noexcept { return 0; }
  std::span<const std::byte> fetch(const experts::SliceRef&, std::span<std::byte>) const { return {}; }
};

struct Hinted : Nothing {
  using Nothing::Nothing;
  void will_need(const experts::SliceRef&) const noexcept {}
};

struct Padded : Nothing {
  using Nothing::Nothing;
  Bytes footprint(const experts::SliceRef& slice) const noexcept { return slice.bytes + 12; }
};

struct FootprintMayThrow : Nothing {
  using Nothing::Nothing;
  Bytes footprint(const experts::SliceRef&) const { return 0; }
};

}  // namespace

static_assert(StoragePolicy<Nothing> && !HintedStorage<Nothing> && !DiscardableStorage<Nothing>);
static_assert(HintedStorage<Hinted> && !DiscardableStorage<Hinted>);
static_assert(!StoragePolicy<FootprintMayThrow>);

TEST_CASE("A storage is made from paths and gives views", "[storage]") { CHECK(Nothing({}).fetch({}, {}).empty()); }

TEST_CASE("The padding of a storage is what it reads beyond a slice", "[storage]") {
  Nothing nothing{std::span<const std::filesystem::path>{}};
  CHECK(padding(nothing) == 0);
  Padded padded{std::span<const std::filesystem::path>{}};
  CHECK(padding(padded) == 12);
}

}  // namespace lazymoe::storage
