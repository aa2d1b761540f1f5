// How fast storages bring random slices of the size of experts from a disk, with a cold page cache.
//
// bench_storage FILE [SECONDS]: a line for each storage, slice size and number of reads under way.
// bench_storage MODEL SECONDS STORAGE DEPTH: random experts of a model; a JSON line, which scripts/bench_storage compares
// with what fio reads.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <lazymoe/core/buffer.hpp>
#include <lazymoe/core/bytes.hpp>
#include <lazymoe/experts/expert_map.hpp>
#include <lazymoe/gguf/file.hpp>
#include <lazymoe/instrument/stopwatch.hpp>
#include <lazymoe/io/file_handle.hpp>
#include <lazymoe/io/huge_pages.hpp>
#include <lazymoe/storage/direct.hpp>
#include <lazymoe/storage/mmap.hpp>
#include <lazymoe/storage/pread.hpp>
#ifdef LAZYMOE_BENCH_URING
#include <lazymoe/storage/uring.hpp>
#endif

namespace {

using namespace lazymoe;

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Empties the page cache of a file.
void forget(const std::filesystem::path& path) {
  ::posix_fadvise(io::FileHandle(path).descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

/// Slices to read, chosen by chance.
class Slices {
 public:
  using Choose = std::function<experts::SliceRef(std::mt19937_64&)>;

  Slices(Choose choose, Bytes largest, unsigned seed = 1)
      : choose_(std::move(choose)), largest_(largest), random_(seed) {}

  [[nodiscard]] Bytes largest() const noexcept { return largest_; }

  experts::SliceRef next() {
    const std::lock_guard lock(mutex_);
    const auto slice = choose_(random_);
    bytes_ += slice.bytes;
    return slice;
  }

  /// Of all slices so far.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

  /// Of one size, anywhere in a file.
  static Choose anywhere(const std::filesystem::path& path, Bytes bytes) {
    return [size = io::FileHandle(path).bytes(), bytes](std::mt19937_64& random) {
      return experts::SliceRef{.shard = 0, .offset = (random() << 20 | random()) % (size - bytes), .bytes = bytes};
    };
  }

  /// Gate, up and down of one expert after the other, any of any layer.
  static Choose experts_of(const experts::ExpertMap& map) {
    return [&map, rest = std::vector<experts::SliceRef>{}](std::mt19937_64& random) mutable {
      while (rest.empty()) {
        const auto layer = static_cast<LayerIndex>(random() % map.space().layers);
        if (!map.has_experts(layer)) continue;
        const auto slices = map.slices(layer, static_cast<ExpertIndex>(random() % map.space().experts));
        rest = {slices.down, slices.up, slices.gate};
      }
      const auto slice = rest.back();
      rest.pop_back();
      return slice;
    };
  }

 private:
  Choose choose_;
  Bytes largest_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  Bytes bytes_ = 0;
};

/// Memory to read into: one behind the other, in huge pages and touched before, as the slots of a store are.
class Buffers {
 public:
  Buffers(std::size_t n, const Slices& slices)
      : each_(align_up(static_cast<std::size_t>(slices.largest() + storage::detail::DirectFiles::padding),
                       AlignedBuffer::page)),
        memory_(n * each_, std::size_t{2} << 20) {
    io::prefer_huge_pages(memory_.bytes());
    std::fill(memory_.bytes().begin(), memory_.bytes().end(), std::byte{0});
  }
  std::span<std::byte> operator[](std::size_t i) { return memory_.bytes().subspan(i * each_, each_); }

 private:
  std::size_t each_;
  AlignedBuffer memory_;
};

struct Speed {
  double gb_per_s = 0;
  double processor_ms_per_gb = 0;
};

/// Counts from its beginning to its end.
class Meter {
 public:
  [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(watch_.elapsed_ns()); }
  [[nodiscard]] Speed end(Bytes bytes) const {
    const double gigabytes = 1e-9 * static_cast<double>(bytes);
    return {.gb_per_s = gigabytes / seconds(), .processor_ms_per_gb = 1e3 * (processor_seconds() - busy_) / gigabytes};
  }

 private:
  double busy_ = processor_seconds();
  instrument::Stopwatch watch_;
};

/// Reads on for some seconds.
using Loop = Speed (*)(Slices&, unsigned depth, double seconds, std::span<const std::filesystem::path>);

/// A blocking fetch in each of `depth` threads, as ExpertStore reads.
template <class Storage>
Speed by_threads(Slices& slices, unsigned depth, double seconds, std::span<const std::filesystem::path> paths) {
  Storage storage(paths);
  Buffers buffers(depth, slices);
  const Meter meter;
  std::atomic<unsigned> touched{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < depth; ++i) {
    threads.emplace_back([&, scratch = buffers[i]] {
      while (meter.seconds() < seconds) {
        const auto view = storage.fetch(slices.next(), scratch);
        unsigned sum = 0;
        if constexpr (std::is_same_v<Storage, storage::Mmap>) {
          for (std::size_t at = 0; at < view.size(); at += 4096) sum += static_cast<unsigned>(view[at]);
        }
        touched += sum;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return meter.end(slices.bytes());
}

#ifdef LAZYMOE_BENCH_URING
/// One thread that collects and submits again; it has some more than the kernel has reads, so that these do not run out
/// meanwhile.
Speed by_one_thread(Slices& slices, unsigned depth, double seconds, std::span<const std::filesystem::path> paths) {
  storage::Uring uring(paths, depth);
  const std::size_t n_reads = depth + depth / 4;
  Buffers buffers(n_reads, slices);
  const Meter meter;
  for (std::size_t i = 0; i < n_reads; ++i) uring.submit(slices.next(), buffers[i], i);
  for (std::size_t n_left = n_reads; n_left > 0;) {
    const storage::Completed completed = uring.next();
    if (completed.failure != nullptr) std::rethrow_exception(completed.failure);
    if (meter.seconds() < seconds) {
      uring.submit(slices.next(), buffers[static_cast<std::size_t>(completed.tag)], completed.tag);
    } else {
      --n_left;
    }
  }
  return meter.end(slices.bytes());
}
#endif

struct Way {
  const char* name;
  Loop run;
};

constexpr Way ways[] = {
    {"mmap", by_threads<storage::Mmap>},
    {"pread", by_threads<storage::Pread>},
    {"direct", by_threads<storage::Direct>},
#ifdef LAZYMOE_BENCH_URING
    {"uring", by_one_thread},
#endif
};

Speed measure(const Way& way, Slices& slices, unsigned depth, double seconds,
              std::span<const std::filesystem::path> paths) {
  for (const auto& path : paths) forget(path);
  return way.run(slices, depth, seconds, paths);
}

void compare_all(const std::filesystem::path& path, double seconds) {
  for (const Bytes bytes : {Bytes{884'736}, Bytes{1'290'240}, Bytes{2'654'208}}) {
    for (const Way& way : ways) {
      for (const unsigned depth : {1U, 4U, 16U}) {
        Slices slices(Slices::anywhere(path, bytes), bytes);
        const Speed speed = measure(way, slices, depth, seconds, {&path, 1});
        std::printf("%-21s slice %7llu  depth %2u  %6.3f GB/s  %6.2f ms of processor per GB\n", way.name,
                    static_cast<unsigned long long>(bytes), depth, speed.gb_per_s, speed.processor_ms_per_gb);
        std::fflush(stdout);
      }
    }
  }
}

/// The sizes of the slices are printed with their shares in per cent, as fio wants them (bssplit).
int read_experts(const std::filesystem::path& path, double seconds, std::string_view name, unsigned depth) {
  const gguf::File file(path);
  const experts::ExpertMap map(file);
  Slices sample(Slices::experts_of(map), 0);
  constexpr int n_samples = 3000;
  std::map<Bytes, int> sizes;
  for (int i = 0; i < n_samples; ++i) ++sizes[sample.next().bytes];
  std::string split;
  for (const auto& [bytes, n] : sizes) {
    if (!split.empty()) split += ':';
    split += std::to_string(bytes) + '/' + std::to_string(n * 100 / n_samples);
  }
  std::random_device seed;  // another each time: the disk's own memory must not help
  Slices slices(Slices::experts_of(map), sizes.rbegin()->first, seed());
  for (const Way& way : ways) {
    if (way.name != name) continue;
    const Speed speed = measure(way, slices, depth, seconds, file.paths());
    std::printf(R"({"storage": "%s", "depth": %u, "gb_per_s": %.4f, "processor_ms_per_gb": %.1f, "bssplit": "%s"})"
                "\n",
                way.name, depth, speed.gb_per_s, speed.processor_ms_per_gb, split.c_str());
    return 0;
  }
  std::fprintf(stderr, "there is no storage %.*s\n", static_cast<int>(name.size()), name.data());
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 5 || argc == 4) {
    std::fputs("usage: bench_storage FILE [SECONDS], or bench_storage MODEL SECONDS STORAGE DEPTH\n", stderr);
    return 1;
  }
  const double seconds = argc > 2 ? std::atof(argv[2]) : 3.0;
  if (argc == 5) return read_experts(argv[1], seconds, argv[3], static_cast<unsigned>(std::max(1, std::atoi(argv[4]))));
  compare_all(argv[1], seconds);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
