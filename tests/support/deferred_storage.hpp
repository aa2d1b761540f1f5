#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include <lazymoe/storage/pread.hpp>

namespace lazymoe::test {

/// An asynchronous storage that reads when it is waited for: the ways of one without its system calls.
class DeferredStorage {
 public:
  static constexpr std::string_view name = "deferred";
  enum class Ticket : std::uint32_t {};

  explicit DeferredStorage(std::span<const std::filesystem::path> paths)
      : inner_(paths), state_(std::make_unique<State>()) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept { return inner_.footprint(slice); }
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    return wait(submit(slice, scratch));
  }
  [[nodiscard]] Ticket submit(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    const std::lock_guard lock(state_->mutex);
    state_->asked[state_->next] = {slice, scratch};
    return Ticket{state_->next++};
  }
  [[nodiscard]] std::span<const std::byte> wait(Ticket ticket) {
    std::pair<experts::SliceRef, std::span<std::byte>> asked;
    {
      const std::lock_guard lock(state_->mutex);
      asked = state_->asked.at(static_cast<std::uint32_t>(ticket));
      state_->asked.erase(static_cast<std::uint32_t>(ticket));
    }
    return inner_.fetch(asked.first, asked.second);
  }

 private:
  struct State {
    std::mutex mutex;
    std::map<std::uint32_t, std::pair<experts::SliceRef, std::span<std::byte>>> asked;
    std::uint32_t next = 0;
  };

  storage::Pread inner_;
  std::unique_ptr<State> state_;
};
static_assert(storage::AsyncStorage<DeferredStorage>);

}  // namespace lazymoe::test
