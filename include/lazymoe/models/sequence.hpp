#pragma once

#include <cstddef>

#include "../core/types.hpp"
#include "state.hpp"

namespace lazymoe::models {

struct SequenceOptions {
  std::size_t n_ctx = 0;       ///< positions that fit; 0: the model's own context, at most 4096
  std::size_t n_batch = 32;    ///< tokens of a prompt that are run together; changes no result
  KvType kv_type = KvType::f16;
};

/// The state of one conversation with one model: made by Model::new_sequence(), used by one thread at a time.
class Sequence {
 public:
  virtual ~Sequence() = default;

  /// Positions that have been run.
  [[nodiscard]] virtual std::size_t length() const noexcept = 0;
  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;
  /// Memory of keys and values when the context is full.
  [[nodiscard]] virtual Bytes bytes() const noexcept = 0;
  /// Forgets what comes after the first `length` positions, or more where the state of some layers cannot be taken
  /// back: then the sequence goes on from the last kept position before. Returns how many positions stay.
  virtual std::size_t rewind(std::size_t length) noexcept = 0;
  /// Makes the present length a position that rewind() can come back to, whatever the family. Costs a copy of the
  /// layers' recurrent states, and takes the place of an older one.
  virtual void keep() = 0;
};

}  // namespace lazymoe::models
