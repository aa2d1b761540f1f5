#pragma once

#include <string_view>

#include "config.hpp"
#include "hybrid_mixer.hpp"
#include "qwen35moe.hpp"

namespace lazymoe::models {

/// Qwen3-Next-80B-A3B: the hybrid that Qwen3.5 grew from. Its files leave value heads in the order of their key heads.
/// @source Qwen3-Next release, 2025; tensor names as the GGUF converter of the reference writes them
struct Qwen3Next {
  static constexpr std::string_view name = "qwen3next";

  using Mixer = HybridMixer;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    Config c = read_hybrid_config(metadata);
    c.delta_net.grouped = true;
    return c;
  }
};

}  // namespace lazymoe::models
