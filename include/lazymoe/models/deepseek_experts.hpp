#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "config.hpp"

namespace lazymoe::models {

/// What a family has where its files say nothing.
struct DeepseekExpertDefaults {
  std::uint64_t n_shared = 0;
  moe::Gating gating = moe::Gating::softmax;
};

/// The feed-forwards of families that follow DeepSeek's: leading dense layers, then routed experts beside shared ones
/// that are as wide together, chosen within groups if the file says so.
/// @throws Error{bad_metadata}
inline void read_deepseek_experts(const ConfigReader& in, Config& c, const DeepseekExpertDefaults& defaults) {
  const auto n_dense = in.value_or<std::uint64_t>("leading_dense_block_count", 0);
  if (n_dense > c.n_layers) in.refuse("leading_dense_block_count", "is larger than the number of layers");
  c.n_dense_layers = static_cast<std::size_t>(n_dense);
  if (n_dense > 0) c.n_ff_dense = in.positive("feed_forward_length");
  c.n_ff_expert = in.positive("expert_feed_forward_length");
  const auto n_shared = in.value_or<std::uint64_t>("expert_shared_count", defaults.n_shared);
  if (n_shared > c.n_experts) in.refuse("expert_shared_count", "is out of range: " + std::to_string(n_shared));
  c.n_ff_shared = static_cast<std::size_t>(n_shared) * c.n_ff_expert;

  c.router.renormalise = in.value_or<bool>("expert_weights_norm", false);
  const auto gating = in.value_or<std::uint64_t>("expert_gating_func", 0);
  if (gating > 3) in.refuse("expert_gating_func", "is not known: " + std::to_string(gating));
  c.router.gating = gating == 0 ? defaults.gating : static_cast<moe::Gating>(gating);
  const auto n_groups = in.value_or<std::uint64_t>("expert_group_count", 0);
  if (n_groups <= 1) return;
  const auto n_used = in.value_or<std::uint64_t>("expert_group_used_count", 0);
  if (n_groups > moe::TopKRouter::max_groups || c.n_experts % n_groups != 0) {
    in.refuse("expert_group_count",
              "does not divide the experts into at most " + std::to_string(moe::TopKRouter::max_groups) + " groups");
  }
  if (n_used == 0 || n_used > n_groups || n_used * (c.n_experts / n_groups) < c.n_experts_used) {
    in.refuse("expert_group_used_count", "does not suit the number of groups and of experts used");
  }
  c.router.n_groups = static_cast<std::size_t>(n_groups);
  c.router.n_groups_used = static_cast<std::size_t>(n_used);
}

}  // namespace lazymoe::models
