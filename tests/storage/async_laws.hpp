#pragma once

#include <lazymoe/storage/storage.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
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
  };
  const auto random_fetch = [&](std::mt19937& random) {
    const auto shard = static_cast<std::uint32_t>(random() % 2);
    const Bytes size = files.contents[shard].size();
    const Bytes offset = random() % size;
    Fetch fetch{.slice = {.shard = shard, .offset = offset, .bytes = random() % (size - offset + 1)}};
    fetch.scratch.resize(static_cast<std::size_t>(storage.footprint(fetch.slice)));
    return fetch;
  };
  const auto random_fetches = [&](std::size_t n) {
    std::mt19937 random(11);
    std::vector<Fetch> fetches;
    for (std::size_t i = 0; i < n; ++i) fetches.push_back(random_fetch(random));
    return fetches;
  };
  const auto right = [&](const Fetch& fetch, std::span<const std::byte> bytes) {
    return std::ranges::equal(bytes, std::span(files.contents[fetch.slice.shard])
                                         .subspan(static_cast<std::size_t>(fetch.slice.offset),
                                                  static_cast<std::size_t>(fetch.slice.bytes)));
  };
  /// Counts how often each of them was told of, and rightly.
  const auto collect = [&](const std::vector<Fetch>& fetches) {
    std::vector<int> n_right(fetches.size());
    for (std::size_t i = 0; i < fetches.size(); ++i) {
      const storage::Completed completed = storage.next();
      const auto which = static_cast<std::size_t>(completed.tag);
      if (completed.failure == nullptr && right(fetches.at(which), completed.bytes)) ++n_right[which];
    }
    return n_right;
  };

  {
    INFO("more reads under way than fit");
    auto fetches = random_fetches(100);
    for (std::size_t i = 0; i < fetches.size(); ++i) storage.submit(fetches[i].slice, fetches[i].scratch, i);
    CHECK(collect(fetches) == std::vector<int>(fetches.size(), 1));
  }
  {
    INFO("without waiting");
    auto fetches = random_fetches(30);
    for (std::size_t i = 0; i < fetches.size(); ++i) storage.submit(fetches[i].slice, fetches[i].scratch, i);
    std::vector<int> n_right(fetches.size());
    for (std::size_t n_left = fetches.size(); n_left > 0;) {
      const auto completed = storage.poll();
      if (!completed) {
        std::this_thread::yield();
        continue;
      }
      const auto which = static_cast<std::size_t>(completed->tag);
      if (right(fetches.at(which), completed->bytes)) ++n_right[which];
      --n_left;
    }
    CHECK(n_right == std::vector<int>(fetches.size(), 1));
    CHECK_FALSE(storage.poll().has_value());
  }
  {
    INFO("submitted by several threads that also fetch, while another collects");
    auto fetches = random_fetches(200);
    std::atomic<std::size_t> n_begun{0};
    std::atomic<int> n_fetched{0};
    std::vector<std::thread> threads;
    for (std::size_t first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        std::vector<std::byte> scratch;
        for (std::size_t i = first; i < fetches.size(); i += 4) {
          storage.submit(fetches[i].slice, fetches[i].scratch, i);
          ++n_begun;
          n_begun.notify_one();
          scratch.resize(fetches[i].scratch.size());
          n_fetched += right(fetches[i], storage.fetch(fetches[i].slice, scratch)) ? 1 : 0;
        }
      });
    }
    std::size_t n_collected = 0;
    std::vector<int> n_right(fetches.size());
    while (n_collected < fetches.size()) {
      n_begun.wait(n_collected);
      const storage::Completed completed = storage.next();
      const auto which = static_cast<std::size_t>(completed.tag);
      if (right(fetches.at(which), completed.bytes)) ++n_right[which];
      ++n_collected;
    }
    for (auto& thread : threads) thread.join();
    CHECK(n_right == std::vector<int>(fetches.size(), 1));
    CHECK(n_fetched == static_cast<int>(fetches.size()));
  }
  {
    INFO("a read outside its file: refused at once or told of");
    const experts::SliceRef outside{.shard = 1, .offset = files.contents[1].size(), .bytes = 10};
    std::vector<std::byte> scratch(static_cast<std::size_t>(storage.footprint(outside)));
    bool failed = false;
    try {
      storage.submit(outside, scratch, 7);
      failed = storage.next().failure != nullptr;
    } catch (const Error& error) {
      failed = error.code() == Errc::io;
    }
    CHECK(failed);
  }
  {
    INFO("reads that nobody waits for");
    auto fetches = random_fetches(40);
    Storage forgotten(files.paths);
    for (std::size_t i = 0; i < fetches.size(); ++i) forgotten.submit(fetches[i].slice, fetches[i].scratch, i);
  }
}

}  // namespace lazymoe::test
