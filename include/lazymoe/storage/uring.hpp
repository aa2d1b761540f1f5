#pragma once

#include <liburing.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
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
/// @thread safe: threads share one ring, and one at a time is in next() or poll()
/// @source Axboe, "Efficient IO with io_uring", 2019
class Uring {
 public:
  static constexpr std::string_view name = "uring";
  static constexpr unsigned default_depth = 16;  ///< enough for a disk at full speed

  /// @param  depth reads the kernel is given at once; others wait their turn
  /// @throws Error{io}, also where the system has no io_uring or forbids it
  explicit Uring(std::span<const std::filesystem::path> paths, unsigned depth = default_depth)
      : state_(std::make_unique<State>(paths, depth)) {}

  /// A sentence for each file that is read through the page cache after all.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return state_->files.notes(); }

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept {
    return detail::DirectFiles::footprint(slice);
  }

  /// Begins to read; scratch must stay alive and untouched until next() has told of it.
  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io} if the slice is not inside its file
  void submit(const experts::SliceRef& slice, std::span<std::byte> scratch, std::uint64_t tag) {
    const detail::DirectRead read = state_->files.plan(slice, scratch);
    const std::lock_guard lock(state_->mutex);
    state_->submit({.read = read, .tag = tag});
  }

  /// Blocks until some read is over.
  /// @pre there is one that next() has not told of
  [[nodiscard]] Completed next() {
    std::unique_lock lock(state_->mutex);
    while (state_->over.empty()) {
      state_->start();
      state_->collect(&lock);
    }
    return complete(state_->take());
  }

  /// A read that is over, if there is one.
  [[nodiscard]] std::optional<Completed> poll() {
    const std::lock_guard lock(state_->mutex);
    state_->note_all();
    if (state_->over.empty()) return std::nullopt;
    return complete(state_->take());
  }

  /// Reads on the calling thread, without the ring.
  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice,
                                                 std::span<std::byte> scratch) const {
    return state_->files.read(slice, scratch, io::SystemRead{});
  }

 private:
  struct Op {
    detail::DirectRead read;
    std::uint64_t tag = 0;
    std::size_t done = 0;  ///< bytes
    int refusals = 0;      ///< in a row
    int error = 0;         ///< errno
  };

  [[nodiscard]] static Completed complete(const Op& op) {
    return completed(op.tag, [&] {
      if (op.error != 0) {
        errno = op.error;
        op.read.fail(op.done);
      }
      op.read.complete(op.done, io::SystemRead{});
      return op.read.slice;
    });
  }

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

    void submit(const Op& op) {
      if (idle.empty()) {
        for (auto* list : {&idle, &waiting, &over}) list->reserve(ops.size() + 1);  // so that note() need not allocate
        ops.emplace_back();
        idle.push_back(static_cast<std::uint32_t>(ops.size() - 1));
      }
      const std::uint32_t id = idle.back();
      idle.pop_back();
      ops[id] = op;
      (op.read.needed == 0 ? over : waiting).push_back(id);
      start();
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

    /// One that is over.
    Op take() noexcept {
      start();
      const std::uint32_t id = over.front();
      over.erase(over.begin());
      idle.push_back(id);
      return ops[id];
    }

    /// Waits, without the lock if there is one, for some reads to end, and takes note of them.
    void collect(std::unique_lock<std::mutex>* lock) noexcept {
      if (::io_uring_sq_ready(&ring) >= flying) return std::this_thread::yield();  // the kernel has none of them
      if (lock != nullptr) lock->unlock();
      io_uring_cqe* entry = nullptr;
      (void)::io_uring_wait_cqe(&ring, &entry);  // or is interrupted
      if (lock != nullptr) lock->lock();
      note_all();
    }

    /// Takes note of all reads that have ended.
    void note_all() noexcept {
      for (io_uring_cqe* entry = nullptr; ::io_uring_peek_cqe(&ring, &entry) == 0;) {
        note(static_cast<std::uint32_t>(::io_uring_cqe_get_data64(entry)), entry->res);
        ::io_uring_cqe_seen(&ring, entry);
      }
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
      const bool is_over = op.done >= op.read.needed || !goes_on;
      if (is_over) {
        over.push_back(id);
      } else {
        waiting.insert(waiting.begin(), id);
      }
    }

    detail::DirectFiles files;
    unsigned depth;
    std::mutex mutex;  ///< of all that follows, but for the ring's end where the kernel's answers come out
    io_uring ring{};
    std::deque<Op> ops;
    std::vector<std::uint32_t> idle;     ///< ops that are none
    std::vector<std::uint32_t> waiting;  ///< for the ring
    std::vector<std::uint32_t> over;     ///< not told of so far
    unsigned flying = 0;                 ///< reads that the ring has
  };

  std::unique_ptr<State> state_;
};
static_assert(AsyncStorage<Uring>);

}  // namespace lazymoe::storage
