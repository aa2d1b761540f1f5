#pragma once

#include <cstddef>

#include "../format.hpp"

namespace lazymoe::quant {

/// Many rows against a fixed number of activations, where preparing for many rows pays: products of whole batches.
/// Formats and ISAs without a specialisation are multiplied by tiles.
///
/// A specialisation has
///   activations              how many it takes, no more and no fewer
///   pays(n_rows, blocks)     whether it wants such rows
///   run()                    as dot_panel(), with its bits
template <BlockFormat F, class Arch>
struct WidePanel;

template <class F, class Arch>
concept HasWidePanel = requires {
  WidePanel<F, Arch>::activations;
};

}  // namespace lazymoe::quant
