#pragma once

#include <algorithm>
#include <cstddef>

#include "../core/types.hpp"
#include "config.hpp"
#include "state.hpp"

namespace lazymoe::models {

/// How a recurrent layer takes a prompt. Both forms mean the same and round differently; neither depends on how a
/// prompt is split into batches.
enum class Recurrence {
  step,     ///< token after token, as the reference does
  chunked,  ///< matrix products over the tokens of a chunk: faster on prompts
};

struct SequenceOptions {
  std::size_t n_ctx = 0;       ///< positions that fit; 0: the model's own context, at most 4096
  std::size_t n_batch = 32;    ///< tokens of a prompt that are run together; changes no result
  KvType kv_type = KvType::f16;
  Recurrence recurrence = Recurrence::step;  ///< of families that have recurrent layers
  std::size_t n_snapshots = 2;  ///< positions that a recurrent state can be taken back to, beside the start
};

/// What SequenceOptions::n_ctx == 0 means.
[[nodiscard]] inline std::size_t default_context(const Config& c) noexcept {
  return std::min<std::size_t>(c.n_ctx_train, 4096);
}

/// The state of one conversation with one model: made by Model::new_sequence(), used by one thread at a time.
class Sequence {
 public:
  virtual ~Sequence() = default;

  /// Positions that have been run.
  [[nodiscard]] virtual std::size_t length() const noexcept = 0;
  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;
  /// Memory of keys and values when the context is full, and of recurrent states with all their snapshots.
  [[nodiscard]] virtual Bytes bytes() const noexcept = 0;
  /// Forgets what comes after the first `length` positions, or more where the state of some layers cannot be taken
  /// back: then the sequence goes on from the last kept position before. Returns how many positions stay.
  virtual std::size_t rewind(std::size_t length) noexcept = 0;
  /// Makes the present length a position that rewind() can come back to, whatever the family. Costs a copy of the
  /// layers' recurrent states, and takes the place of an older one.
  virtual void keep() = 0;
};

}  // namespace lazymoe::models
