#pragma once

#include <array>
#include <boost/hana/concat.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "../core/error.hpp"
#include "format.hpp"
#include "formats/data.hpp"
#include "formats/iq1_m.hpp"
#include "formats/iq1_s.hpp"
#include "formats/iq2_s.hpp"
#include "formats/iq2_xs.hpp"
#include "formats/iq2_xxs.hpp"
#include "formats/iq3_s.hpp"
#include "formats/iq3_xxs.hpp"
#include "formats/iq4_nl.hpp"
#include "formats/iq4_xs.hpp"
#include "formats/mxfp4.hpp"
#include "formats/nvfp4.hpp"
#include "formats/plain.hpp"
#include "formats/q1_0.hpp"
#include "formats/q2_0.hpp"
#include "formats/q2_k.hpp"
#include "formats/q3_k.hpp"
#include "formats/q4_0.hpp"
#include "formats/q4_1.hpp"
#include "formats/q4_k.hpp"
#include "formats/q5_0.hpp"
#include "formats/q5_1.hpp"
#include "formats/q5_k.hpp"
#include "formats/q6_k.hpp"
#include "formats/q8_0.hpp"
#include "formats/q8_1.hpp"
#include "formats/q8_k.hpp"
#include "formats/tq1_0.hpp"
#include "formats/tq2_0.hpp"

namespace lazymoe::quant {

/// Every format that matrices of weights can have. To add one: write its trait, add it here, add its test.
inline constexpr auto formats = boost::hana::tuple_t<F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K,
                                                     Q5_K, Q6_K, IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S,
                                                     IQ4_NL, IQ4_XS, MXFP4, NVFP4, Q1_0, Q2_0, TQ1_0, TQ2_0>;

/// Formats of tensors that are no weights: they load and decode, but nothing multiplies them.
inline constexpr auto data_formats = boost::hana::tuple_t<F64, I8, I16, I32, I64, Q8_1, Q8_K>;

/// Every format the library can read.
inline constexpr auto readable_formats = boost::hana::concat(formats, data_formats);

/// What the reader of a file needs to know about a type, without its C++ type.
struct Layout {
  std::string_view name;
  std::uint32_t block_elems = 0;  ///< 0: number not in the registry
  std::uint32_t block_bytes = 0;
  bool is_weight = false;  ///< whether matrices of this type can be multiplied
};

/// Layout by wire number, built from `readable_formats` while compiling.
inline constexpr auto layouts = [] {
  std::array<Layout, 64> table{};
  boost::hana::for_each(readable_formats, [&table](auto format) {
    using F = typename decltype(format)::type;
    auto& slot = table.at(static_cast<std::size_t>(F::id));
    if (slot.block_elems != 0) throw "two formats share a wire number";  // ill-formed when reached
    slot = {F::name, F::block_elems, block_bytes<F>, WeightFormat<F>};
  });
  return table;
}();

/// Whether `id` is in the registry. Any number may be asked about.
[[nodiscard]] constexpr bool is_supported(TypeId id) noexcept {
  const auto number = static_cast<std::size_t>(id);
  return number < layouts.size() && layouts[number].block_elems != 0;
}

/// Whether matrices of type `id` can be multiplied. Any number may be asked about.
[[nodiscard]] constexpr bool is_weight(TypeId id) noexcept {
  return is_supported(id) && layouts[static_cast<std::size_t>(id)].is_weight;
}

[[noreturn]] inline void throw_unsupported(TypeId id) {
  const std::string number = std::to_string(static_cast<std::uint32_t>(id));
  throw Error(Errc::unsupported_type,
              is_supported(id)
                  ? "tensor type " + number + " (" + std::string(layouts[static_cast<std::size_t>(id)].name) +
                        ") cannot be used here: it is not a format of weights, or not one asked for"
                  : "tensor type " + number + " is not one of the formats this library reads");
}

/// Layout of the format with wire number `id`.
/// @throws Error{unsupported_type} when `id` is not in the registry
[[nodiscard]] constexpr const Layout& layout(TypeId id) {
  if (!is_supported(id)) throw_unsupported(id);
  return layouts[static_cast<std::size_t>(id)];
}

/// Name of the format with wire number `id`, as ggml spells it.
/// @throws Error{unsupported_type} when `id` is not in the registry
[[nodiscard]] constexpr std::string_view type_name(TypeId id) { return layout(id).name; }

/// Bytes of a row of `cols` weights of type `id`.
/// @pre    cols is a multiple of the block's elements
/// @throws Error{unsupported_type} when `id` is not in the registry
[[nodiscard]] constexpr std::size_t row_bytes(TypeId id, std::size_t cols) {
  const Layout& of = layout(id);
  return cols / of.block_elems * of.block_bytes;
}

namespace detail {

template <class Result, class Format, class Fn>
Result call_with(Fn& fn) {
  return fn(Format{});
}

}  // namespace detail

/// Calls `fn(hana::type<F>)` for the format with wire number `id` and returns what it returns, void too:
/// the one door from run time to compile time. Hoist it out of loops: one call per tensor, not per row.
/// `Formats` is the list to choose from: the library's weights, `readable_formats`, or a list of your own.
/// @throws Error{unsupported_type} when `id` is not in the list
template <const auto& Formats = formats, class Fn>
auto visit_format(TypeId id, Fn&& fn) {
  return boost::hana::unpack(Formats, [&](auto... format) {
    using Result = std::common_type_t<decltype(fn(format))...>;
    using Call = Result (*)(std::remove_reference_t<Fn>&);
    Call call = nullptr;
    (void)((id == decltype(format)::type::id &&
            (call = &detail::call_with<Result, decltype(format), std::remove_reference_t<Fn>>, true)) ||
           ...);
    if (call == nullptr) throw_unsupported(id);
    return call(fn);
  });
}

}  // namespace lazymoe::quant
