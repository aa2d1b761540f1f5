#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include "../core/types.hpp"
#include "../parallel/thread_pool.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/rope.hpp"
#include "attention_gqa.hpp"
#include "config.hpp"
#include "delta_net.hpp"
#include "recurrent_state.hpp"
#include "sequence.hpp"
#include "state.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// Keys and values of the layers that attend, and what the recurrent ones remember. Goes back where both can.
class HybridState {
 public:
  HybridState(KvCache cache, RecurrentState recurrent) : cache_(std::move(cache)), recurrent_(std::move(recurrent)) {}

  [[nodiscard]] std::size_t length() const noexcept { return cache_.length(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return cache_.capacity(); }
  [[nodiscard]] Bytes bytes() const noexcept { return cache_.bytes() + recurrent_.bytes(); }

  void advance(std::size_t n) noexcept {
    cache_.advance(n);
    recurrent_.advance(n);
  }
  std::size_t rewind(std::size_t length) noexcept { return cache_.rewind(recurrent_.rewind(length)); }
  void keep() { recurrent_.keep(); }
  void abandon() noexcept {
    recurrent_.abandon();
    cache_.rewind(recurrent_.length());
  }

  [[nodiscard]] KvCache& cache() noexcept { return cache_; }
  [[nodiscard]] RecurrentState& recurrent() noexcept { return recurrent_; }

 private:
  KvCache cache_;
  RecurrentState recurrent_;
};
static_assert(SequenceState<HybridState>);

struct HybridScratch {
  GqaScratch attention;
  DeltaNetScratch delta_net;
};

/// Attention or DeltaNet, by layer.
class HybridMixer {
 public:
  using State = HybridState;
  using Scratch = HybridScratch;

  [[nodiscard]] static HybridState new_state(const Config& c, const SequenceOptions& options) {
    return {GqaAttention::new_state(c, options), DeltaNet::new_state(c, options)};
  }

  void bind(WeightBinder& binder, const Config& c, LayerIndex layer) {
    if (c.recurrent.at(layer)) {
      mixer_.emplace<DeltaNet>().bind(binder, c, layer);
    } else {
      mixer_.emplace<GqaAttention>().bind(binder, c, layer);
    }
  }

  /// @shape x[tokens, n_embd], already normed -> out[tokens, n_embd]
  void run(const Config& c, const tensor::Rope& rope, const tensor::ConstRows& x, HybridState& state, HybridScratch& s,
           parallel::ThreadPool& pool, tensor::Rows out) const {
    if (const auto* recurrent = std::get_if<DeltaNet>(&mixer_)) {
      recurrent->run(c, rope, x, state.recurrent(), s.delta_net, pool, out);
    } else {
      std::get<GqaAttention>(mixer_).run(c, rope, x, state.cache(), s.attention, pool, out);
    }
  }

 private:
  std::variant<GqaAttention, DeltaNet> mixer_;
};

}  // namespace lazymoe::models
