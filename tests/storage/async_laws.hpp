#pragma once

#include <lazymoe/storage/storage.hpp>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "shard_fixture.hpp"
#include "support/catch.hpp"

namespace lazymoe::test {

template <storage::AsyncStorage Storage>
void check_async_laws() {
  const ShardFixture files;
  Storage storage(files.paths);

  struct Fetch {
    experts::SliceRef slice;
    std::vector<std::byte> scratch = {};
    typename Storage::Ticket ticket = {};
  };
  const auto submit = [&](std::mt19937& random) {
    const auto shard = static_cast<std::uint32_t>(random() % 2);
    const Bytes size = files.contents[shard].size();
    const Bytes offset = random() % size;
    Fetch fetch{.slice = {.shard = shard, .offset = offset, .bytes = random() % (size - offset + 1)}};
    fetch.scratch.resize(static_cast<std::size_t>(storage.footprint(fetch.slice)));
    fetch.ticket = storage.submit(fetch.slice, fetch.scratch);
    return fetch;
  };
  const auto right = [&](const Fetch& fetch) {
    return std::ranges::equal(storage.wait(fetch.ticket), std::span(files.contents[fetch.slice.shard])
                                                              .subspan(static_cast<std::size_t>(fetch.slice.offset),
                                                                       static_cast<std::size_t>(fetch.slice.bytes)));
  };

  INFO("more reads under way than fit, waited for in any order");
  std::mt19937 random(11);
  std::vector<Fetch> fetches;
  for (int i = 0; i < 100; ++i) fetches.push_back(submit(random));
  std::ranges::shuffle(fetches, random);
  CHECK(std::ranges::all_of(fetches, right));

  INFO("waited for by other threads");
  fetches.clear();
  for (int i = 0; i < 100; ++i) fetches.push_back(submit(random));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::size_t i = first; i < fetches.size(); i += 4) wrong += right(fetches[i]) ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);

  INFO("tickets that nobody waits for");
  fetches.clear();
  {
    Storage forgotten(files.paths);
    std::swap(storage, forgotten);
    for (int i = 0; i < 40; ++i) fetches.push_back(submit(random));
    std::swap(storage, forgotten);
  }
}

}  // namespace lazymoe::test
