#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "pread.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// Any storage behind one type, for programs that choose by name while running (see make_storage()): one store is
/// compiled for all of them. It costs a virtual call a read.
class AnyStorage {
 public:
  static constexpr std::string_view name = "any";

  /// Pread.
  explicit AnyStorage(std::span<const std::filesystem::path> paths) : AnyStorage(Pread(paths)) {}

  template <class S>
    requires(!std::same_as<S, AnyStorage>) && StoragePolicy<S>  // in this order: the second asks for this constructor
  explicit AnyStorage(S storage) : storage_(std::make_unique<Of<S>>(std::move(storage))) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept { return storage_->footprint(slice); }
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    return storage_->fetch(slice, scratch);
  }
  /// Whether the storage can have reads under way by itself.
  [[nodiscard]] bool asynchronous() const noexcept { return storage_->asynchronous(); }
  /// @pre asynchronous()
  void submit(const experts::SliceRef& slice, std::span<std::byte> scratch, std::uint64_t tag) {
    storage_->submit(slice, scratch, tag);
  }
  /// @pre asynchronous()
  [[nodiscard]] Completed next() { return storage_->next(); }
  /// @pre asynchronous()
  [[nodiscard]] std::optional<Completed> poll() { return storage_->poll(); }
  /// Sentences for people about what the storage could not do as asked; see Direct::notes().
  [[nodiscard]] std::vector<std::string> notes() const { return storage_->notes(); }
  /// Nothing where the storage takes no hints.
  void will_need(const experts::SliceRef& slice) noexcept { storage_->will_need(slice); }
  /// Nothing where the storage has no memory to give back.
  void discard(const experts::SliceRef& slice) noexcept { storage_->discard(slice); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    [[nodiscard]] virtual Bytes footprint(const experts::SliceRef& slice) noexcept = 0;
    [[nodiscard]] virtual std::span<const std::byte> fetch(const experts::SliceRef& slice,
                                                           std::span<std::byte> scratch) = 0;
    [[nodiscard]] virtual bool asynchronous() const noexcept = 0;
    virtual void submit(const experts::SliceRef& slice, std::span<std::byte> scratch, std::uint64_t tag) = 0;
    [[nodiscard]] virtual Completed next() = 0;
    [[nodiscard]] virtual std::optional<Completed> poll() = 0;
    [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
    virtual void will_need(const experts::SliceRef& slice) noexcept = 0;
    virtual void discard(const experts::SliceRef& slice) noexcept = 0;
  };

  template <StoragePolicy S>
  struct Of final : Interface {
    explicit Of(S s) : storage(std::move(s)) {}
    Bytes footprint(const experts::SliceRef& slice) noexcept override { return storage.footprint(slice); }
    std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) override {
      return storage.fetch(slice, scratch);
    }
    bool asynchronous() const noexcept override { return storage::asynchronous(storage); }
    void submit(const experts::SliceRef& slice, std::span<std::byte> scratch, std::uint64_t tag) override {
      if constexpr (AsyncStorage<S>) {
        storage.submit(slice, scratch, tag);
      } else {
        LAZYMOE_EXPECTS(asynchronous());
        (void)slice, (void)scratch, (void)tag;
      }
    }
    Completed next() override {
      if constexpr (AsyncStorage<S>) {
        return storage.next();
      } else {
        LAZYMOE_EXPECTS(asynchronous());
        return {};
      }
    }
    std::optional<Completed> poll() override {
      if constexpr (AsyncStorage<S>) {
        return storage.poll();
      } else {
        LAZYMOE_EXPECTS(asynchronous());
        return std::nullopt;
      }
    }
    std::vector<std::string> notes() const override {
      if constexpr (requires { storage.notes(); }) {
        return storage.notes();
      } else {
        return {};
      }
    }
    void will_need(const experts::SliceRef& slice) noexcept override {
      if constexpr (HintedStorage<S>) storage.will_need(slice);
    }
    void discard(const experts::SliceRef& slice) noexcept override {
      if constexpr (DiscardableStorage<S>) storage.discard(slice);
    }
    S storage;
  };

  std::unique_ptr<Interface> storage_;
};
static_assert(AsyncStorage<AnyStorage> && HintedStorage<AnyStorage> && DiscardableStorage<AnyStorage>);

}  // namespace lazymoe::storage
