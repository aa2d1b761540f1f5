#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "../core/types.hpp"
#include "../gguf/file.hpp"
#include "../quant/activation.hpp"
#include "../quant/registry.hpp"
#include "../tensor/matmul.hpp"
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
  Bytes scratch = 0;  ///< of a batch, with a router's guesses
};

namespace detail {

[[nodiscard]] inline Bytes dense_bytes(const gguf::File& file, std::size_t n_layers) {
  Bytes total = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    if (!tensor.name.ends_with("_exps.weight") && !in_skipped_block(tensor.name, n_layers)) total += tensor.bytes;
  }
  return total;
}

/// Bytes that a number takes when it has been rounded for all the kinds of weights of a file but F32.
[[nodiscard]] inline double rounded_bytes(const gguf::File& file) {
  std::array<bool, 8> seen{};
  double total = 0;
  for (const gguf::TensorInfo& tensor : file.tensors()) {
    if (tensor.n_dims < 2 || tensor.type == quant::TypeId::f32 || !quant::is_weight(tensor.type)) continue;
    const quant::ActivationKind kind = tensor::activation_kind(tensor.type);
    if (std::exchange(seen.at(static_cast<std::size_t>(kind)), true)) continue;
    total += static_cast<double>(quant::activation_bytes(kind, 256)) / 256;
  }
  return total > 0 ? total : 4;
}

/// What a batch takes: the matrices of the decoder, of one mixer and of one feed-forward, which all layers share, and
/// what is rounded of them.
[[nodiscard]] inline Bytes scratch_bytes(const Config& c, const SequenceOptions& options, std::size_t n_threads,
                                         double rounded) {
  const std::size_t k = c.n_experts_used;
  const std::size_t dense = std::max(c.n_ff_dense, c.n_ff_shared);
  const std::size_t latent = c.latent.rank == 0 ? 0 : c.n_heads * (2 * c.latent.rank + c.rope.n_rot) + c.latent.rank +
                                                          c.rope.n_rot + c.latent.query_rank;
  const std::size_t attention = c.n_heads * ((c.attention_gate ? 3 : 1) * c.key_dim + c.value_dim) +
                                (latent == 0 ? c.n_kv_heads * (c.key_dim + c.value_dim) : latent);
  const std::size_t delta = 2 * c.delta_net.channels() + 2 * c.delta_net.value_width();
  const std::size_t floats = 5 * c.n_embd + attention + delta + k * (2 * c.n_ff_expert + c.n_embd) + c.n_experts + 2 * dense;
  const std::size_t roundings = 3 * c.n_embd + c.n_heads * c.value_dim + c.latent.query_rank + c.delta_net.value_width() +
                                k * c.n_ff_expert + dense;
  const double token = 4.0 * static_cast<double>(floats + c.n_embd) + rounded * static_cast<double>(roundings);
  // A thread attends for the heads that share keys: to all positions, with eight partial sums of a value, from blocks
  // of 32 decoded vectors.
  const std::size_t value = std::max(c.value_dim, c.latent.rank);
  const std::size_t thread = c.n_heads / std::max<std::size_t>(1, c.n_kv_heads) * (options.n_ctx + 8 * value) +
                             32 * (std::max(c.key_dim, value) + c.rope.n_rot);
  return static_cast<Bytes>(token * static_cast<double>(options.n_batch)) +
         sizeof(float) * (thread * n_threads + c.n_vocab);
}

}  // namespace detail

/// @throws Error{unsupported_model, bad_metadata}
[[nodiscard]] inline MemoryNeeds memory_needs(const gguf::File& file, SequenceOptions options,
                                              std::size_t n_threads = 1) {
  MemoryNeeds needs;
  const double rounded = detail::rounded_bytes(file);
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
                                .scratch = detail::scratch_bytes(config, options, n_threads, rounded)};
                     });
  return needs;
}

}  // namespace lazymoe::models
