#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <lazymoe/storage/pread.hpp>

namespace lazymoe::test {

/// An asynchronous storage that reads when it is waited for, the newest first: the ways of one without its system
/// calls.
template <storage::StoragePolicy Inner>
class Deferred {
 public:
  static constexpr std::string_view name = "deferred";

  explicit Deferred(std::span<const std::filesystem::path> paths) : Deferred(Inner(paths)) {}
  explicit Deferred(Inner inner) : inner_(std::move(inner)), state_(std::make_unique<State>()) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) noexcept { return inner_.footprint(slice); }
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    return inner_.fetch(slice, scratch);
  }
  void submit(const experts::SliceRef& slice, std::span<std::byte> scratch, std::uint64_t tag) {
    const std::lock_guard lock(state_->mutex);
    state_->asked.push_back({slice, scratch, tag});
  }
  [[nodiscard]] storage::Completed next() {
    Asked asked;
    {
      const std::lock_guard lock(state_->mutex);
      asked = state_->asked.back();
      state_->asked.pop_back();
    }
    return storage::completed(asked.tag, [&] { return inner_.fetch(asked.slice, asked.scratch); });
  }
  /// Nothing at two times of three.
  [[nodiscard]] std::optional<storage::Completed> poll() {
    {
      const std::lock_guard lock(state_->mutex);
      if (++state_->n_polls % 3 != 0 || state_->asked.empty()) return std::nullopt;
    }
    return next();
  }

 private:
  struct Asked {
    experts::SliceRef slice;
    std::span<std::byte> scratch;
    std::uint64_t tag = 0;
  };
  struct State {
    std::mutex mutex;
    std::deque<Asked> asked;
    std::size_t n_polls = 0;
  };

  Inner inner_;
  std::unique_ptr<State> state_;
};
using DeferredStorage = Deferred<storage::Pread>;
static_assert(storage::AsyncStorage<DeferredStorage>);

}  // namespace lazymoe::test
