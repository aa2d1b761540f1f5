#include <optional>
#include <string_view>

#include <lazymoe/cache/eviction.hpp>

namespace {

struct Forgetful {
  static constexpr std::string_view name = "forgetful";
  explicit Forgetful(lazymoe::KeySpace) {}
  void on_insert(lazymoe::ExpertKey) noexcept {}
  void on_hit(lazymoe::ExpertKey) noexcept {}
#ifndef LAZYMOE_MISUSE
  void on_erase(lazymoe::ExpertKey) noexcept {}
#endif
  template <class Pred>
  std::optional<lazymoe::ExpertKey> victim(Pred) {
    return std::nullopt;
  }
};

template <lazymoe::cache::EvictionPolicy P>
struct Store {};

}  // namespace

template struct Store<Forgetful>;

// expected: policy.on_erase(key)
