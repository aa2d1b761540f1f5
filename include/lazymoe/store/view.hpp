#pragma once

#include "../quant/packed_matrix.hpp"

namespace lazymoe::store {

/// The matrices of one resident expert, as long as its lease lives.
///
/// @shape gate[n_ff, n_embd], up[n_ff, n_embd], down[n_embd, n_ff]
struct ExpertView {
  quant::PackedMatrix gate;
  quant::PackedMatrix up;
  quant::PackedMatrix down;
};

}  // namespace lazymoe::store
