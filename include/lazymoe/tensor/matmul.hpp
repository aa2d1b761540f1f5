#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../parallel/thread_pool.hpp"
#include "../quant/dot.hpp"
#include "../quant/packed_matrix.hpp"
#include "../quant/registry.hpp"
#include "activations.hpp"
#include "aliases.hpp"

namespace lazymoe::tensor {

/// The rounding that rows need before they meet `type`.
[[nodiscard]] inline quant::ActivationKind activation_kind(quant::TypeId type) {
  return quant::visit_format(type, [](auto format) { return decltype(format)::type::activation; });
}

/// y[i][r] = W[r] . x[tokens[i]] for rows r in [begin, end) of W: the piece of a product that one thread computes.
/// Each element is one dot product, so neither the split nor the batch changes a bit.
///
/// @shape W[rows, cols], x[*, cols], tokens[n] -> y[n, rows]
/// @pre   x is prepared for W's type
// Not inlined: it holds every kernel, and a copy for each caller would double the time to compile.
template <class Arch = simd::DefaultArch>
[[gnu::noinline]] void multiply_rows(const quant::PackedMatrix& w, const Activations& x,
                                     std::span<const std::uint32_t> tokens, std::size_t begin, std::size_t end,
                                     Rows& y) {
  quant::visit_format(w.type, [&](auto format) {
    using F = typename decltype(format)::type;
    if (begin == end) return;
    const auto first = w.template blocks<F>(begin);
    const auto stride = static_cast<std::size_t>(y.outerStride());
    std::array<const quant::ActivationBlock<F>*, 64> some;
    for (std::size_t done = 0; done < tokens.size();) {
      const std::size_t n = std::min(tokens.size() - done, some.size());
      for (std::size_t i = 0; i < n; ++i) some[i] = x.template row<F>(tokens[done + i]);
      quant::dot_panel<F, Arch>(first.data(), end - begin, first.size(), std::span(some).first(n),
                          row(y, done).data() + begin, stride);
      done += n;
    }
  });
}

#if defined(LAZYMOE_EXTERN_KERNELS)  // see quant/decode.hpp
extern template void multiply_rows<simd::DefaultArch>(const quant::PackedMatrix&, const Activations&,
                                                      std::span<const std::uint32_t>, std::size_t, std::size_t, Rows&);
#endif

/// Rows of W that are worth a thread's while: about 64 KiB of weights.
[[nodiscard]] inline std::size_t row_grain(const quant::PackedMatrix& w) noexcept {
  return 1 + (std::size_t{64} << 10) / (w.row_bytes() + 1);
}

/// y[t] = W x[t] for every row of a batch.
///
/// @shape  W[rows, cols], x[tokens, cols] -> y[tokens, rows]
/// @thread rows of W are split over the pool
inline void matmul(const quant::PackedMatrix& w, Activations& x, Rows y, parallel::ThreadPool& pool) {
  LAZYMOE_EXPECTS(w.cols == x.cols() && row_count(y) == x.tokens() && width(y) == w.rows);
  x.prepare(activation_kind(w.type), pool);
  std::vector<std::uint32_t> all(x.tokens());
  for (std::size_t t = 0; t < all.size(); ++t) all[t] = static_cast<std::uint32_t>(t);
  pool.parallel_for(w.rows, row_grain(w),
                    [&](std::size_t begin, std::size_t end) { multiply_rows(w, x, all, begin, end, y); });
}

}  // namespace lazymoe::tensor
