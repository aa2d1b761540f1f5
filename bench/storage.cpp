// How fast storages bring random slices of the size of experts from a disk, with a cold page cache.
//
// bench_storage FILE [SECONDS]: a line for each storage, slice size and number of reads under way.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <lazymoe/core/buffer.hpp>
#include <lazymoe/instrument/stopwatch.hpp>
#include <lazymoe/io/file_handle.hpp>
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

/// Random slices of one file, seeded, with nothing of it in the page cache at first.
class Slices {
 public:
  Slices(const std::filesystem::path& path, Bytes bytes) : file_(path), bytes_(bytes), random_(1) {
    ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  }
  experts::SliceRef next() {
    const std::lock_guard lock(mutex_);
    return {.shard = 0, .offset = (random_() << 20 | random_()) % (file_.bytes() - bytes_), .bytes = bytes_};
  }

 private:
  io::FileHandle file_;
  Bytes bytes_;
  std::mutex mutex_;
  std::mt19937_64 random_;
};

/// Reads on while `watch` shows less than `seconds`; the number of reads.
using Loop = std::size_t (*)(Slices&, unsigned depth, double seconds, std::span<const std::filesystem::path>);

/// A blocking fetch in each of `depth` threads, as ExpertStore reads.
template <class Storage>
std::size_t by_threads(Slices& slices, unsigned depth, double seconds, std::span<const std::filesystem::path> paths) {
  Storage storage(paths);
  const instrument::Stopwatch watch;
  std::atomic<std::size_t> reads{0};
  std::atomic<unsigned> touched{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < depth; ++i) {
    threads.emplace_back([&] {
      AlignedBuffer scratch(4_MiB, AlignedBuffer::page);
      std::fill(scratch.bytes().begin(), scratch.bytes().end(), std::byte{0});  // its pages are there before
      while (static_cast<double>(watch.elapsed_ns()) < 1e9 * seconds) {
        const auto view = storage.fetch(slices.next(), scratch.bytes());
        unsigned sum = 0;
        if constexpr (std::is_same_v<Storage, storage::Mmap>) {
          for (std::size_t at = 0; at < view.size(); at += 4096) sum += static_cast<unsigned>(view[at]);
        }
        touched += sum;
        ++reads;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return reads;
}

#ifdef LAZYMOE_BENCH_URING
/// `depth` tickets of one thread.
std::size_t by_tickets(Slices& slices, unsigned depth, double seconds, std::span<const std::filesystem::path> paths) {
  storage::Uring uring(paths, depth);
  const instrument::Stopwatch watch;
  std::vector<AlignedBuffer> scratch;
  std::deque<std::pair<storage::Uring::Ticket, std::size_t>> under_way;
  for (unsigned i = 0; i < depth; ++i) {
    std::span<std::byte> bytes = scratch.emplace_back(4_MiB, AlignedBuffer::page).bytes();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    under_way.emplace_back(uring.submit(slices.next(), bytes), i);
  }
  std::size_t reads = 0;
  for (; !under_way.empty(); ++reads) {
    const auto [ticket, i] = under_way.front();
    under_way.pop_front();
    (void)uring.wait(ticket);
    if (static_cast<double>(watch.elapsed_ns()) < 1e9 * seconds) {
      under_way.emplace_back(uring.submit(slices.next(), scratch[i].bytes()), i);
    }
  }
  return reads;
}
#endif

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fputs("usage: bench_storage FILE [SECONDS]\n", stderr);
    return 1;
  }
  const std::vector<std::filesystem::path> paths{argv[1]};
  const double seconds = argc > 2 ? std::atof(argv[2]) : 3.0;
  struct Way {
    const char* name;
    Loop run;
  };
  const Way ways[] = {
      {"mmap", by_threads<storage::Mmap>},
      {"pread", by_threads<storage::Pread>},
      {"direct", by_threads<storage::Direct>},
#ifdef LAZYMOE_BENCH_URING
      {"uring", by_tickets},
      {"uring, a thread each", by_threads<storage::Uring>},
#endif
  };
  for (const Bytes bytes : {Bytes{884'736}, Bytes{1'290'240}, Bytes{2'654'208}}) {
    for (const Way& way : ways) {
      for (const unsigned depth : {1U, 4U, 16U}) {
        Slices slices(paths[0], bytes);
        const double busy = processor_seconds();
        const instrument::Stopwatch watch;
        const std::size_t reads = way.run(slices, depth, seconds, paths);
        const double elapsed = 1e-9 * static_cast<double>(watch.elapsed_ns());
        const double gigabytes = 1e-9 * static_cast<double>(reads * bytes);
        std::printf("%-21s slice %7llu  depth %2u  %6.3f GB/s  %6.2f ms of processor per GB\n", way.name,
                    static_cast<unsigned long long>(bytes), depth, gigabytes / elapsed,
                    1e3 * (processor_seconds() - busy) / gigabytes);
        std::fflush(stdout);
      }
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
