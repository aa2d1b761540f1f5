#pragma once

#include <liburing.h>

#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "../io/file_handle.hpp"
#include "detail/direct_files.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// Direct reads through io_uring: many under way at once, without a thread for each. As Direct in all else.
///
/// Needs liburing (link `lazymoe::uring`), so that no umbrella includes this header.
/// @thread safe: threads share one ring; of those that wait, one collects for all
/// @source Axboe, "Efficient IO with io_uring", 2019
class Uring {
 public:
  static constexpr std::string_view name = "uring";
  static constexpr unsigned default_depth = 16;  ///< enough for a disk at full speed

  /// A fetch under way.
  enum class Ticket : std::uint32_t {};

  /// @param  depth reads the kernel is given at once; others wait their turn
  /// @throws Error{io}, also where the system has no io_uring or forbids it
  explicit Uring(std::span<const std::filesystem::path> paths, unsigned depth = default_depth)
      : state_(std::make_unique<State>(paths, depth)) {}

  /// A sentence for each file that is read through the page cache after all.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return state_->files.notes(); }

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept {
    return detail::DirectFiles::footprint(slice);
  }

  /// Begins to read; scratch must stay alive and untouched until wait() returns.
  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io} if the slice is not inside its file
  [[nodiscard]] Ticket submit(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    const detail::DirectRead read = state_->files.plan(slice, scratch);
    const std::lock_guard lock(state_->mutex);
    return state_->submit(read);
  }

  /// Blocks until the bytes are in scratch.
  /// @pre    the ticket came from submit(), and is waited for once
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> wait(Ticket ticket) {
    const Op op = state_->wait(static_cast<std::uint32_t>(ticket));
    if (op.error != 0) {
      errno = op.error;
      throw_errno("read " + std::to_string(op.read.slice.size()) + " bytes", op.read.file->path().string(),
                  op.read.offset + op.done);
    }
    // What direct reads refuse, and what is left after they ended within a block, comes through the page cache.
    if (op.done < op.read.needed) {
      op.read.file->read_exact_at(op.read.offset + op.done, op.read.into.subspan(op.done, op.read.needed - op.done));
    }
    return op.read.slice;
  }

  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    return wait(submit(slice, scratch));
  }

 private:
  struct Op {
    detail::DirectRead read;
    std::size_t done = 0;  ///< bytes
    int refusals = 0;      ///< in a row
    int error = 0;         ///< errno
    bool over = false;
  };

  struct State {
    State(std::span<const std::filesystem::path> paths, unsigned queue_depth) : files(paths), depth(queue_depth) {
      LAZYMOE_EXPECTS(depth > 0);
      if (const int failure = ::io_uring_queue_init(depth, &ring, 0); failure < 0) {
        throw Error(Errc::io, "io_uring is not to be had here: " + std::generic_category().message(-failure));
      }
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      // The kernel must not write into memory that is gone.
      for (waiting.clear(); flying > 0; waiting.clear()) {
        start();
        collect(nullptr);
      }
      ::io_uring_queue_exit(&ring);
    }

    Ticket submit(const detail::DirectRead& read) {
      if (idle.empty()) {
        idle.reserve(ops.size() + 1);
        waiting.reserve(ops.size() + 1);  // so that note() need not allocate
        ops.emplace_back();
        idle.push_back(static_cast<std::uint32_t>(ops.size() - 1));
      }
      const std::uint32_t id = idle.back();
      ops[id] = {.read = read, .over = read.needed == 0};
      if (!ops[id].over) waiting.push_back(id);
      idle.pop_back();
      start();
      return Ticket{id};
    }

    /// Gives the kernel as much as it may have.
    void start() noexcept {
      for (; flying < depth && !waiting.empty(); ++flying, waiting.erase(waiting.begin())) {
        Op& op = ops[waiting.front()];
        io_uring_sqe* const entry = ::io_uring_get_sqe(&ring);
        if (entry == nullptr) break;
        const auto into = op.read.into.subspan(op.done);
        ::io_uring_prep_read(entry, op.read.descriptor, into.data(), static_cast<unsigned>(into.size()),
                             op.read.offset + op.done);
        ::io_uring_sqe_set_data64(entry, waiting.front());
      }
      // What the kernel does not take now is offered again by the next call.
      if (::io_uring_sq_ready(&ring) > 0) ::io_uring_submit(&ring);
    }

    Op wait(std::uint32_t id) {
      std::unique_lock lock(mutex);
      while (!ops[id].over) {
        if (collecting) {
          changed.wait(lock);
          continue;
        }
        collecting = true;
        start();
        collect(&lock);
        start();
        collecting = false;
        changed.notify_all();
      }
      const Op op = ops[id];
      idle.push_back(id);
      return op;
    }

    /// Waits, without the lock if there is one, for some reads to end, and takes note of them.
    void collect(std::unique_lock<std::mutex>* lock) noexcept {
      if (::io_uring_sq_ready(&ring) >= flying) return std::this_thread::yield();  // the kernel has none of them
      if (lock != nullptr) lock->unlock();
      io_uring_cqe* entry = nullptr;
      const int failure = ::io_uring_wait_cqe(&ring, &entry);
      if (lock != nullptr) lock->lock();
      if (failure < 0) return;  // interrupted
      do {
        note(static_cast<std::uint32_t>(::io_uring_cqe_get_data64(entry)), entry->res);
        ::io_uring_cqe_seen(&ring, entry);
      } while (::io_uring_peek_cqe(&ring, &entry) == 0);
    }

    /// One read of the kernel's is over.
    void note(std::uint32_t id, int result) noexcept {
      Op& op = ops[id];
      --flying;
      const bool try_again = result == -EINTR || (result == -EAGAIN && ++op.refusals <= io::FileHandle::most_refusals);
      if (result > 0) {
        op.done += static_cast<std::size_t>(result);
        op.refusals = 0;
      } else if (result < 0 && result != -EINVAL && !try_again) {
        op.error = -result;
      }
      const bool goes_on = try_again || (result > 0 && op.done % detail::DirectFiles::block == 0);
      op.over = op.done >= op.read.needed || !goes_on;
      if (!op.over) waiting.insert(waiting.begin(), id);
    }

    detail::DirectFiles files;
    unsigned depth;
    std::mutex mutex;  ///< of all that follows, but for the ring's end where the kernel's answers come out
    std::condition_variable changed;
    io_uring ring{};
    std::deque<Op> ops;               ///< by ticket
    std::vector<std::uint32_t> idle;  ///< tickets to give out
    std::vector<std::uint32_t> waiting;
    unsigned flying = 0;      ///< reads that the ring has
    bool collecting = false;  ///< whether some thread waits for the kernel
  };

  std::unique_ptr<State> state_;
};
static_assert(AsyncStorage<Uring>);

}  // namespace lazymoe::storage
