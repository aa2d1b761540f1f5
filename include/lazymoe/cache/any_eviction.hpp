#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "../core/types.hpp"
#include "eviction.hpp"
#include "lru.hpp"

namespace lazymoe::cache {

/// Any eviction policy behind one type, for programs that choose by name while running (see make_eviction()): one store
/// is compiled for all of them. It costs a virtual call an event, and one for every key a victim search looks at.
class AnyEviction {
 public:
  static constexpr std::string_view name = "any";

  /// LRU.
  explicit AnyEviction(KeySpace space) : AnyEviction(Lru(space)) {}

  template <class P>
    requires(!std::same_as<P, AnyEviction>) && EvictionPolicy<P>  // in this order: the second asks for this constructor
  explicit AnyEviction(P policy) : policy_(std::make_unique<Of<P>>(std::move(policy))) {}

  void on_insert(ExpertKey key) noexcept { policy_->on_insert(key); }
  void on_hit(ExpertKey key) noexcept { policy_->on_hit(key); }
  void on_erase(ExpertKey key) noexcept { policy_->on_erase(key); }

  [[nodiscard]] bool pins(ExpertKey key) const noexcept { return policy_->pins(key); }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) {
    return policy_->victim({&evictable, [](const void* pred, ExpertKey key) {
                              using Plain = std::remove_reference_t<Pred>;
                              return static_cast<bool>((*const_cast<Plain*>(static_cast<const Plain*>(pred)))(key));
                            }});
  }

 private:
  /// A predicate that lives as long as the call it is passed to.
  struct PredicateRef {
    const void* pred;
    bool (*call)(const void*, ExpertKey);
    bool operator()(ExpertKey key) const { return call(pred, key); }
  };

  struct Interface {
    virtual ~Interface() = default;
    virtual void on_insert(ExpertKey key) noexcept = 0;
    virtual void on_hit(ExpertKey key) noexcept = 0;
    virtual void on_erase(ExpertKey key) noexcept = 0;
    [[nodiscard]] virtual bool pins(ExpertKey key) const noexcept = 0;
    virtual std::optional<ExpertKey> victim(PredicateRef evictable) = 0;
  };

  template <EvictionPolicy P>
  struct Of final : Interface {
    explicit Of(P p) : policy(std::move(p)) {}
    void on_insert(ExpertKey key) noexcept override { policy.on_insert(key); }
    void on_hit(ExpertKey key) noexcept override { policy.on_hit(key); }
    void on_erase(ExpertKey key) noexcept override { policy.on_erase(key); }
    bool pins(ExpertKey key) const noexcept override { return cache::pins(policy, key); }
    std::optional<ExpertKey> victim(PredicateRef evictable) override { return policy.victim(evictable); }
    P policy;
  };

  std::unique_ptr<Interface> policy_;
};
static_assert(EvictionPolicy<AnyEviction>);

}  // namespace lazymoe::cache
