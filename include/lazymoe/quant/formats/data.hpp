#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"

namespace lazymoe::quant {

namespace detail {

/// One number of type T at any address.
template <class T>
struct [[gnu::packed]] PackedNumber {
  T value;
};

}  // namespace detail

/// Numbers that files carry as data, tables of indices say: they have a place and a value but are no weights.
/// Decoding gives the nearest float, exact up to 2^24 and beyond that for some.
template <class T, TypeId Id>
struct DataFormat {
  static constexpr TypeId id = Id;
  static constexpr std::size_t block_elems = 1;

  using Block = detail::PackedNumber<T>;
  static_assert(sizeof(Block) == sizeof(T) && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    out[0] = static_cast<float>(block.value);
  }
};

struct I8 : DataFormat<std::int8_t, TypeId::i8> {
  static constexpr std::string_view name = "I8";
};
struct I16 : DataFormat<std::int16_t, TypeId::i16> {
  static constexpr std::string_view name = "I16";
};
struct I32 : DataFormat<std::int32_t, TypeId::i32> {
  static constexpr std::string_view name = "I32";
};
struct I64 : DataFormat<std::int64_t, TypeId::i64> {
  static constexpr std::string_view name = "I64";
};
/// IEEE binary64; beyond the range of float: infinity.
struct F64 : DataFormat<double, TypeId::f64> {
  static constexpr std::string_view name = "F64";
};
static_assert(BlockFormat<I8> && BlockFormat<I16> && BlockFormat<I32> && BlockFormat<I64> && BlockFormat<F64>);

}  // namespace lazymoe::quant
