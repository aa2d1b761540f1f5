#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../quant/decode.hpp"
#include "../quant/encode.hpp"
#include "../quant/packed_matrix.hpp"
#include "../quant/registry.hpp"

namespace lazymoe::store {

// clang-format off

/// What experts become between storage and slot.
///
///   R::target(type, cols)  the type of what a file holds as rows of `cols` of `type`; itself where they stay as they are
///   R::convert(from, to)   packs the rows of `from` anew
/// Laws, checked by tests/store/representation_laws.hpp:
///   1. the shape stays, and the result fills `to`, of converted_bytes()
///   2. equal matrices give equal bytes
///   3. what R::target leaves alone is copied
template <class R>
concept RepresentationPolicy =
    requires(const quant::PackedMatrix& from, std::span<std::byte> to, quant::TypeId type, std::size_t cols) {
      { R::name } -> std::convertible_to<std::string_view>;
      { R::target(type, cols) } noexcept -> std::same_as<quant::TypeId>;
      { R::convert(from, to) } -> std::same_as<void>;
    };

/// A representation that leaves everything as the file has it, so that reads may go straight into slots.
template <class R>
concept AsInFile = RepresentationPolicy<R> && R::as_in_file;

// clang-format on

/// Bytes of a matrix of that type and shape in the representation R.
template <RepresentationPolicy R>
[[nodiscard]] Bytes converted_bytes(quant::TypeId type, std::size_t rows, std::size_t cols) {
  return Bytes{rows} * quant::row_bytes(R::target(type, cols), cols);
}

/// Experts as the file has them: nothing is lost, nothing is copied.
struct KeepQuantized {
  static constexpr std::string_view name = "keep";
  static constexpr bool as_in_file = true;
  [[nodiscard]] static quant::TypeId target(quant::TypeId type, std::size_t) noexcept { return type; }
  static void convert(const quant::PackedMatrix& from, std::span<std::byte> to) {
    LAZYMOE_EXPECTS(to.size() == from.bytes.size());
    std::memcpy(to.data(), from.bytes.data(), to.size());
  }
};

/// Packs what the file has in another weight format. Matrices whose rows are no whole blocks of `F` stay.
///
/// DecodeTo is the same for plain formats: weights as numbers, four to eight times the bytes, so that "a budget of file
/// bytes" and "a budget of decoded bytes" can be compared. F32 holds every weight exactly, but meets activations that
/// are not rounded: its logits differ from KeepQuantized's.
/// @error F32: none; others: that of Encoder<F>
template <quant::EncodableFormat F>
struct RequantizeTo {
  static constexpr std::string_view name = F::name;

  [[nodiscard]] static quant::TypeId target(quant::TypeId type, std::size_t cols) noexcept {
    return cols % F::block_elems == 0 ? F::id : type;
  }

  static void convert(const quant::PackedMatrix& from, std::span<std::byte> to) {
    if (target(from.type, from.cols) == from.type) return KeepQuantized::convert(from, to);
    const std::size_t row_bytes = quant::row_bytes<F>(from.cols);
    LAZYMOE_EXPECTS(to.size() == from.rows * row_bytes);
    std::vector<float> row(from.cols);
    for (std::size_t i = 0; i < from.rows; ++i) {
      quant::decode_row(from, i, row);
      quant::encode_row<F>(row, to.subspan(i * row_bytes, row_bytes));
    }
  }
};

template <quant::EncodableFormat F>
  requires(F::block_elems == 1)
using DecodeTo = RequantizeTo<F>;

static_assert(AsInFile<KeepQuantized>);

}  // namespace lazymoe::store
