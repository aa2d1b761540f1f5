#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../gguf/tensor.hpp"
#include "../../quant/decode.hpp"
#include "../../quant/packed_matrix.hpp"

namespace lazymoe::models::detail {

/// Where the weights of one tensor go: whole or in parts, packed or as floats.
struct WeightPlaces {
  struct MatrixRows {
    quant::PackedMatrix* to;  ///< all but its bytes are known
    std::size_t first;        ///< row
  };
  struct Numbers {
    std::vector<float>* to;
    std::size_t first;
    std::size_t n;
  };
  std::vector<MatrixRows> matrices;
  std::vector<Numbers> vectors;
  std::vector<std::vector<float>*> transposed;
  bool negative = false;  ///< all numbers of `vectors` must be

  /// @pre    the bytes outlive the matrices
  /// @throws Error{bad_tensor} for numbers that must be negative and are not
  void place(const gguf::TensorInfo& info, const std::string& file, std::span<const std::byte> bytes) const {
    for (const auto& [m, first] : matrices) {
      const std::size_t row = m->row_bytes();
      m->bytes = bytes.subspan(first * row, m->rows * row);
    }
    for (const auto& [v, first, n] : vectors) {
      v->resize(static_cast<std::size_t>(info.elems()));
      quant::decode_row({.type = info.type, .rows = 1, .cols = v->size(), .bytes = bytes}, 0, *v);
      if (negative) check_negative(info, file, *v);
      v->erase(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(first));
      v->resize(n);
    }
    for (std::vector<float>* v : transposed) *v = columns(info, bytes);
  }

 private:
  static void check_negative(const gguf::TensorInfo& info, const std::string& file, std::span<const float> x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] < 0.0F) continue;  // what is not a number is not
      throw Error(Errc::bad_tensor, file + ": tensor " + info.name + " must be negative throughout, but number " +
                                        std::to_string(i) + " is " + std::to_string(x[i]));
    }
  }

  [[nodiscard]] static std::vector<float> columns(const gguf::TensorInfo& info, std::span<const std::byte> bytes) {
    const quant::PackedMatrix w{.type = info.type,
                                .rows = static_cast<std::size_t>(info.rows()),
                                .cols = static_cast<std::size_t>(info.dims[0]),
                                .bytes = bytes};
    std::vector<float> row(w.cols);
    std::vector<float> to(w.rows * w.cols);
    for (std::size_t r = 0; r < w.rows; ++r) {
      quant::decode_row(w, r, row);
      for (std::size_t c = 0; c < w.cols; ++c) to[c * w.rows + r] = row[c];
    }
    return to;
  }
};

}  // namespace lazymoe::models::detail
