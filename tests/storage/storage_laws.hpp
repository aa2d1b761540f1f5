#pragma once

#include <lazymoe/storage/storage.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <lazymoe/core/error.hpp>

#include "shard_fixture.hpp"
#include "support/catch.hpp"

namespace lazymoe::test {

/// Does fetch give the file's bytes, and from where it may? (Laws 1 and 2.)
template <storage::StoragePolicy Storage>
bool fetches_right(Storage& storage, const ShardFixture& files, const experts::SliceRef& slice) {
  const Bytes footprint = storage.footprint(slice);
  std::vector<std::byte> scratch(static_cast<std::size_t>(footprint));
  const std::span<const std::byte> view = storage.fetch(slice, scratch);
  const auto expected = std::span(files.contents[slice.shard])
                            .subspan(static_cast<std::size_t>(slice.offset), static_cast<std::size_t>(slice.bytes));
  const std::less_equal<const std::byte*> before;
  const bool in_scratch =
      before(scratch.data(), view.data()) && before(view.data() + view.size(), scratch.data() + scratch.size());
  return view.size() == slice.bytes && std::ranges::equal(view, expected) && (footprint == 0 || in_scratch);
}

/// @param Files a ShardFixture, or one whose paths are others
template <storage::StoragePolicy Storage, class Files = ShardFixture>
void check_storage_laws() {
  const Files files;
  Storage made(files.paths);
  Storage storage = std::move(made);  // movable

  std::mt19937 random(3);
  const auto random_slice = [&files](std::mt19937& source) {
    const auto shard = static_cast<std::uint32_t>(source() % 2);
    const Bytes size = files.contents[shard].size();
    const Bytes offset = source() % size;
    return experts::SliceRef{.shard = shard, .offset = offset, .bytes = source() % (size - offset + 1)};
  };

  INFO("whole files, single bytes, nothing, odd offsets and lengths");
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    const Bytes size = files.contents[shard].size();
    CHECK(fetches_right(storage, files, {.shard = shard, .offset = 0, .bytes = size}));
    CHECK(fetches_right(storage, files, {.shard = shard, .offset = 0, .bytes = 1}));
    CHECK(fetches_right(storage, files, {.shard = shard, .offset = size - 1, .bytes = 1}));
    CHECK(fetches_right(storage, files, {.shard = shard, .offset = 4096, .bytes = 4096}));
    CHECK(fetches_right(storage, files, {.shard = shard, .offset = 4095, .bytes = 4098}));
    CHECK(fetches_right(storage, files, {.shard = shard, .offset = 17, .bytes = 0}));
    CHECK(fetches_right(storage, files, {.shard = shard, .offset = size, .bytes = 0}));
  }
  for (int i = 0; i < 100; ++i) {
    const auto slice = random_slice(random);
    CAPTURE(slice.shard, slice.offset, slice.bytes);
    CHECK(fetches_right(storage, files, slice));
  }

  INFO("what a footprint exceeds the slice by is always the same");
  for (int i = 0; i < 50; ++i) {
    const auto slice = random_slice(random);
    const Bytes footprint = storage.footprint(slice);
    CHECK((slice.bytes == 0 || footprint == 0 || footprint == slice.bytes + storage::padding(storage)));
  }

  INFO("several threads at once");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&storage, &files, &wrong, &random_slice, seed] {
      std::mt19937 own(seed);
      for (int i = 0; i < 50; ++i) wrong += fetches_right(storage, files, random_slice(own)) ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);

  INFO("outside the file");
  const Bytes size = files.contents[1].size();
  const Bytes huge = ~Bytes{0};
  std::vector<std::byte> scratch(100 +
                                 static_cast<std::size_t>(storage.footprint({.shard = 1, .offset = 0, .bytes = 1})));
  for (const auto& slice : {experts::SliceRef{.shard = 1, .offset = size, .bytes = 1},
                            experts::SliceRef{.shard = 1, .offset = size - 9, .bytes = 10},
                            experts::SliceRef{.shard = 1, .offset = huge, .bytes = 2},
                            experts::SliceRef{.shard = 1, .offset = huge - 1, .bytes = 0},
                            experts::SliceRef{.shard = 1, .offset = 2, .bytes = huge},
                            experts::SliceRef{.shard = 2, .offset = 0, .bytes = 1}}) {
    CAPTURE(slice.shard, slice.offset, slice.bytes);
    try {
      (void)storage.fetch(slice, scratch);
      FAIL_CHECK("no error");
    } catch (const Error& error) {
      const std::string message = error.what();
      CAPTURE(message);
      CHECK(error.code() == Errc::io);
      CHECK(message.find(slice.shard < 2 ? files.paths[slice.shard].string() : "shard 2") == 0);
      CHECK(message.find("offset " + std::to_string(slice.offset)) != std::string::npos);
    }
    if constexpr (storage::HintedStorage<Storage>) storage.will_need(slice);
    if constexpr (storage::DiscardableStorage<Storage>) storage.discard(slice);
  }

  INFO("hints change no result");
  for (int i = 0; i < 50; ++i) {
    const auto slice = random_slice(random);
    if constexpr (storage::HintedStorage<Storage>) storage.will_need(slice);
    CHECK(fetches_right(storage, files, slice));
    if constexpr (storage::DiscardableStorage<Storage>) storage.discard(slice);
    CHECK(fetches_right(storage, files, slice));
  }

  INFO("files that are not there");
  const std::array missing{files.paths[0], files.root / "missing"};
  try {
    const Storage never(missing);
    FAIL_CHECK("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::io);
    CHECK(std::string(error.what()).find("missing") != std::string::npos);
  }
}

}  // namespace lazymoe::test
