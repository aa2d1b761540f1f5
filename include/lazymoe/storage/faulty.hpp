#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/joined_name.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "../io/file_handle.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// What may happen to a read.
enum class Fault : std::uint8_t {
  none,
  interrupted,  ///< EINTR
  would_wait,   ///< EAGAIN
  cut_short,    ///< fewer bytes than there are
  delayed,
  broken,     ///< EIO
  refused,    ///< EINVAL
  truncated,  ///< the file ends before the read
};

/// How often in 1000 reads each kind of fault is injected, and into which: equal seeds give equal faults.
struct FaultPlan {
  std::uint64_t seed = 0;
  unsigned transient = 0;  ///< interrupted, would_wait, cut_short: a good reader overcomes them
  unsigned delayed = 0;
  unsigned lasting = 0;  ///< broken, refused, truncated
  std::chrono::microseconds delay{100};
};

/// Chooses faults by seed, place in the file and how often that place was read before: not by time or thread.
/// @thread safe
class FaultChooser {
 public:
  explicit FaultChooser(FaultPlan plan) : plan_(plan) {}

  [[nodiscard]] const FaultPlan& plan() const noexcept { return plan_; }

  [[nodiscard]] Fault operator()(std::uint64_t place) {
    std::uint64_t attempt = 0;
    {
      const std::lock_guard lock(mutex_);
      attempt = attempts_[place]++;
    }
    const std::uint64_t random = mix(mix(mix(plan_.seed) ^ place) ^ attempt);
    const std::uint64_t draw = random % 1000;
    const auto kind = static_cast<std::uint8_t>(random / 1000 % 3);
    if (draw < plan_.transient) return static_cast<Fault>(static_cast<std::uint8_t>(Fault::interrupted) + kind);
    if (draw < plan_.transient + plan_.lasting)
      return static_cast<Fault>(static_cast<std::uint8_t>(Fault::broken) + kind);
    return draw < plan_.transient + plan_.lasting + plan_.delayed ? Fault::delayed : Fault::none;
  }

 private:
  /// @source the finalizer of SplitMix64: Steele, Lea and Flood, OOPSLA 2014
  static std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }

  FaultPlan plan_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> attempts_;
};

/// Reads as io::SystemRead does, with faults: for BasicPread and BasicDirect.
class FaultyRead {
 public:
  FaultyRead() : FaultyRead(FaultPlan{}) {}
  /// Copies share what they count.
  explicit FaultyRead(FaultPlan plan) : choose_(std::make_shared<FaultChooser>(plan)) {}

  ssize_t operator()(int descriptor, std::span<std::byte> into, off_t offset) const {
    const auto fail = [](int code) {
      errno = code;
      return ssize_t{-1};
    };
    switch ((*choose_)(static_cast<std::uint64_t>(offset))) {
      case Fault::interrupted:
        return fail(EINTR);
      case Fault::would_wait:
        return fail(EAGAIN);
      case Fault::broken:
        return fail(EIO);
      case Fault::refused:
        return fail(EINVAL);
      case Fault::truncated:
        return 0;
      case Fault::cut_short:
        return shortened(io::SystemRead{}(descriptor, into, offset));
      case Fault::delayed:
        std::this_thread::sleep_for(choose_->plan().delay);
        break;
      case Fault::none:
        break;
    }
    return io::SystemRead{}(descriptor, into, offset);
  }

 private:
  static ssize_t shortened(ssize_t got) noexcept { return got > 1 ? got / 2 : got; }

  std::shared_ptr<FaultChooser> choose_;
};

/// Another storage some of whose fetches fail, or take longer. Which faults a storage overcomes is for FaultyRead to
/// test: here a lasting fault is an error, and a transient one goes unnoticed.
template <StoragePolicy Storage>
class Faulty {
  static constexpr std::string_view prefix = "faulty-";

 public:
  static constexpr std::string_view name = JoinedName<prefix, Storage::name>::value;

  /// Without faults unless there is a plan.
  explicit Faulty(std::span<const std::filesystem::path> paths, FaultPlan plan = {})
      : storage_(paths), paths_(paths.begin(), paths.end()), choose_(std::make_unique<FaultChooser>(plan)) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) noexcept { return storage_.footprint(slice); }

  /// @throws Error{io} naming the file and the offset
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    const auto view = storage_.fetch(slice, scratch);
    switch ((*choose_)(slice.offset)) {
      case Fault::broken:
      case Fault::refused:
      case Fault::truncated:
        // A read that failed may have written anything before.
        std::ranges::fill(scratch.first(std::min<std::size_t>(scratch.size(), view.size())), std::byte{0xFA});
        throw Error(Errc::io, paths_[slice.shard].string() + ": cannot read " + std::to_string(slice.bytes) +
                                  " bytes at offset " + std::to_string(slice.offset) + ": a fault was injected");
      case Fault::delayed:
        std::this_thread::sleep_for(choose_->plan().delay);
        break;
      default:
        break;
    }
    return view;
  }

 private:
  Storage storage_;
  std::vector<std::filesystem::path> paths_;
  std::unique_ptr<FaultChooser> choose_;
};

}  // namespace lazymoe::storage
