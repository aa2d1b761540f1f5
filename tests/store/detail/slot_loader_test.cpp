#include <lazymoe/store/detail/slot_loader.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include <lazymoe/core/error.hpp>
#include <lazymoe/storage/mmap.hpp>
#include <lazymoe/storage/pread.hpp>

#include "store/hooked_storage.hpp"
#include "store/model_fixture.hpp"
#include "support/catch.hpp"
#include "support/deferred_storage.hpp"

namespace lazymoe::store::detail {
namespace {

/// What has been told of each slot.
class Arrivals {
 public:
  void note(SlotIndex slot, const PartView& part, const std::exception_ptr& failure) {
    const std::lock_guard lock(mutex_);
    part.put_into(views_[slot]);
    if (failure != nullptr) ++n_failures_;
    ++n_;
    changed_.notify_all();
  }
  ExpertView await(SlotIndex slot, std::size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return n_ == n; });
    return views_[slot];
  }
  [[nodiscard]] std::size_t n_failures() const { return n_failures_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<SlotIndex, ExpertView> views_;
  std::size_t n_ = 0;
  std::size_t n_failures_ = 0;
};

/// A storage whose reads are over before submit() returns, and are told of then.
class Hasty : public test::DeferredStorage {
 public:
  using test::DeferredStorage::Deferred;
  Hasty(std::span<const std::filesystem::path> paths, std::shared_ptr<std::function<void()>> submitted)
      : test::DeferredStorage(paths), submitted_(std::move(submitted)) {}
  void submit(const experts::SliceRef& slice, std::span<std::byte> scratch, std::uint64_t tag) {
    test::DeferredStorage::submit(slice, scratch, tag);
    (*submitted_)();
  }

 private:
  std::shared_ptr<std::function<void()>> submitted_;
};

constexpr Claim claim(std::uint32_t slot, ExpertKey key) {
  return {.slot = SlotIndex{slot}, .key = key, .kind = Claim::Kind::miss};
}

}  // namespace

TEMPLATE_TEST_CASE("A loader brings experts into their slots and tells of every read", "[store][slot_loader]",
                   storage::Pread, storage::Mmap, test::DeferredStorage) {
  const test::ModelFixture model;
  TestType storage(model.file.paths());
  const SlotPlan plan(model.map, ExpertBudget::experts(3), ExpertReader<TestType, KeepQuantized>::slot_bytes(storage));
  Arrivals arrivals;
  SlotLoader<TestType, KeepQuantized> loader(
      model.map, plan, std::move(storage), nullptr, 2,
      [&](SlotIndex slot, ExpertKey, std::size_t, const PartView& part, std::exception_ptr failure) {
        arrivals.note(slot, part, failure);
      });
  const KeySpace space = model.map.space();
  loader.load(claim(2, space.key(1, 4)), parallel::Priority::demand);
  loader.load(claim(0, space.key(2, 6)), parallel::Priority::prefetch);
  CHECK(loader.under_way() == storage::AsyncStorage<TestType>);
  loader.collect_ready();
  while (loader.under_way()) loader.collect();
  CHECK(model.is_expert(arrivals.await(SlotIndex{2}, 6), 1, 4));
  CHECK(model.is_expert(arrivals.await(SlotIndex{0}, 6), 2, 6));
  loader.load(claim(2, space.key(0, 1)), parallel::Priority::demand);  // the slot again
  while (loader.under_way()) loader.collect();
  CHECK(model.is_expert(arrivals.await(SlotIndex{2}, 9), 0, 1));
  CHECK(arrivals.n_failures() == 0);
}

TEST_CASE("A read that is collected before it is counted leaves none under way", "[store][slot_loader]") {
  const test::ModelFixture model;
  const auto submitted = std::make_shared<std::function<void()>>();
  Hasty storage(model.file.paths(), submitted);
  const SlotPlan plan(model.map, ExpertBudget::experts(2), ExpertReader<Hasty, KeepQuantized>::slot_bytes(storage));
  Arrivals arrivals;
  SlotLoader<Hasty, KeepQuantized> loader(
      model.map, plan, std::move(storage), nullptr, 1,
      [&](SlotIndex slot, ExpertKey, std::size_t, const PartView& part, std::exception_ptr failure) {
        arrivals.note(slot, part, failure);
      });
  int n_left = 0;
  *submitted = [&] {
    loader.collect();
    n_left += loader.under_way() ? 1 : 0;
  };
  loader.load(claim(1, model.map.space().key(1, 4)), parallel::Priority::demand);
  CHECK(model.is_expert(arrivals.await(SlotIndex{1}, 3), 1, 4));
  CHECK(n_left == 0);
  CHECK_FALSE(loader.under_way());
}

TEST_CASE("A loader tells of reads that fail, and discards what was evicted", "[store][slot_loader]") {
  const test::ModelFixture model;
  const experts::ExpertSlices bad = model.map.slices(1, 4);
  const auto hook = std::make_shared<test::Hook>([&](const experts::SliceRef& slice) {
    if (slice == bad.up) throw Error(Errc::io, "broken");
  });
  Arrivals arrivals;
  SlotLoader<test::Hooked<storage::Pread>, KeepQuantized> loader(
      model.map, SlotPlan(model.map, ExpertBudget::experts(2)),
      test::Hooked<storage::Pread>(model.file.paths(), hook), nullptr, 1,
      [&](SlotIndex slot, ExpertKey, std::size_t, const PartView& part, std::exception_ptr failure) {
        arrivals.note(slot, part, failure);
      });
  Claim asked = claim(1, model.map.space().key(1, 4));
  asked.evicted = model.map.space().key(2, 0);
  loader.load(asked, parallel::Priority::demand);
  (void)arrivals.await(SlotIndex{1}, 3);
  CHECK(arrivals.n_failures() == 1);
  const experts::ExpertSlices gone = model.map.slices(2, 0);
  CHECK(hook->discarded() == std::vector{gone.gate, gone.up, gone.down});
}

}  // namespace lazymoe::store::detail
