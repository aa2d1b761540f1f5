#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "../core/types.hpp"
#include "../gguf/file.hpp"
#include "architecture.hpp"
#include "config.hpp"
#include "sequence.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// What running a model takes beside its experts.
struct MemoryNeeds {
  std::size_t n_ctx = 0;  ///< of the sequence: what was asked for, or what the model allows
  Bytes weights = 0;  ///< the dense ones, packed as the file packs them
  Bytes state = 0;    ///< of one sequence, when its context is full
  Bytes scratch = 0;  ///< of a batch: an upper bound
};

namespace detail {

[[nodiscard]] inline Bytes dense_bytes(const gguf::File& file, std::size_t n_layers) {
  Bytes total = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    if (!tensor.name.ends_with("_exps.weight") && !in_skipped_block(tensor.name, n_layers)) total += tensor.bytes;
  }
  return total;
}

/// Every scratch matrix holds floats, and what is rounded of it at most as many bytes again.
[[nodiscard]] inline Bytes scratch_bytes(const Config& c, const SequenceOptions& options, std::size_t n_threads) {
  const std::size_t heads = c.n_heads * (3 * c.key_dim + c.value_dim) + 2 * c.n_kv_heads * (c.key_dim + c.value_dim);
  const std::size_t routed = c.n_experts_used * (2 * c.n_ff_expert + c.n_embd) + 2 * c.n_experts;
  const std::size_t dense = 2 * std::max(c.n_ff_dense, c.n_ff_shared);
  const std::size_t token =
      7 * c.n_embd + heads + 2 * c.delta_net.channels() + 2 * c.n_heads * c.latent.rank + routed + dense;
  // A thread attends for the heads that share keys: to all positions, with eight partial sums of a value.
  const std::size_t thread = c.n_heads / std::max<std::size_t>(1, c.n_kv_heads) *
                             (options.n_ctx + 9 * std::max(c.value_dim, c.latent.rank));
  return sizeof(float) * (2 * token * options.n_batch + thread * n_threads + c.n_vocab);
}

}  // namespace detail

/// @throws Error{unsupported_model, bad_metadata}
[[nodiscard]] inline MemoryNeeds memory_needs(const gguf::File& file, SequenceOptions options,
                                              std::size_t n_threads = 1) {
  MemoryNeeds needs;
  visit_architecture(file.metadata().require<std::string_view>("general.architecture"), file.name(),
                     [&](auto architecture) {
                       using A = typename decltype(architecture)::type;
                       Config config = A::read_config(file.metadata());
                       options.n_ctx = options.n_ctx == 0 ? default_context(config)
                                                          : std::min(options.n_ctx, config.n_ctx_train);
                       if (const auto* output = file.find("token_embd.weight")) {
                         config.n_vocab = static_cast<std::size_t>(output->rows());
                       }
                       needs = {.n_ctx = options.n_ctx,
                                .weights = detail::dense_bytes(file, config.n_layers),
                                .state = A::Mixer::new_state(config, options).bytes(),
                                .scratch = detail::scratch_bytes(config, options, n_threads)};
                     });
  return needs;
}

}  // namespace lazymoe::models
