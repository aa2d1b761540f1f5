#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../parallel/thread_pool.hpp"
#include "../../quant/activation.hpp"
#include "../../quant/decode.hpp"
#include "../../quant/packed_matrix.hpp"
#include "../../simd/vector.hpp"
#include "../../tensor/dot.hpp"

namespace lazymoe::models::detail {

/// Rounds numbers as the reference does before it multiplies them with weights.
/// @pre x.size() is a multiple of the kind's block
inline void round_as_activation(quant::ActivationKind kind, std::span<float> x) {
  quant::visit_activation(kind, [x]<quant::ActivationKind Kind>() {
    using Traits = quant::ActivationTraits<Kind>;
    std::vector<typename Traits::Block> blocks(x.size() / Traits::block_elems);
    quant::quantize<Kind>(x, blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Traits::decode(blocks[i], x.subspan(i * Traits::block_elems).template first<Traits::block_elems>());
    }
  });
}

/// Key and value matrices of heads as old files have them: one matrix, for each head first its key rows, then its value
/// rows. The key rows stand the other way round than a product with a query wants, so rows are decoded as they are met:
/// a transposed copy could not be packed again without loss, and unpacked it would take many times the memory.
///
/// @shape both[n_heads * (n_key_rows + n_value_rows), rank]
struct UnsplitHeads {
  const quant::PackedMatrix* both = nullptr;
  std::size_t n_heads = 0;
  std::size_t n_key_rows = 0;
  std::size_t n_value_rows = 0;

  /// Numbers of every token, `stride` apart, of which each head has `step`.
  template <class T>
  struct Heads {
    T* data = nullptr;
    std::size_t stride = 0;
    std::size_t step = 0;

    [[nodiscard]] T* at(std::size_t token, std::size_t head) const noexcept {
      return data + token * stride + head * step;
    }
  };

  /// The sum of each head's key rows, weighted by its query: what meets latent vectors.
  ///
  /// @shape queries[n_key_rows] -> sums[rank], for each token and head
  void absorb_keys(std::size_t n_tokens, const Heads<const float>& queries, const Heads<float>& sums,
                   parallel::ThreadPool& pool) const {
    const std::size_t rank = both->cols;
    pool.parallel_for(n_heads, 1, [&](std::size_t begin, std::size_t end) {
      std::vector<float> row(rank);
      for (std::size_t h = begin; h < end; ++h) {
        for (std::size_t t = 0; t < n_tokens; ++t) std::fill_n(sums.at(t, h), rank, 0.0F);
        for (std::size_t i = 0; i < n_key_rows; ++i) {
          quant::decode_row(*both, h * (n_key_rows + n_value_rows) + i, row);
          for (std::size_t t = 0; t < n_tokens; ++t) {
            simd::add_scaled(queries.at(t, h)[i], row.data(), sums.at(t, h), rank);
          }
        }
      }
    });
  }

  /// Each head's value rows times its sum of latent vectors, which is not rounded again.
  ///
  /// @shape sums[rank] -> out[n_value_rows], for each token and head
  void apply_values(std::size_t n_tokens, const Heads<const float>& sums, const Heads<float>& out,
                    parallel::ThreadPool& pool) const {
    const std::size_t rank = both->cols;
    pool.parallel_for(n_heads * n_value_rows, 1 + 4096 / rank, [&](std::size_t begin, std::size_t end) {
      std::vector<float> row(rank);
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t h = i / n_value_rows;
        quant::decode_row(*both, h * n_key_rows + i + n_key_rows, row);
        for (std::size_t t = 0; t < n_tokens; ++t) {
          out.at(t, h)[i % n_value_rows] = tensor::dot(row, {sums.at(t, h), rank});
        }
      }
    });
  }
};

}  // namespace lazymoe::models::detail
