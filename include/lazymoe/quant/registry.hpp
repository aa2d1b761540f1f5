#pragma once

#include <array>
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
#include "formats/iq4_nl.hpp"
#include "formats/iq4_xs.hpp"
#include "formats/mxfp4.hpp"
#include "formats/plain.hpp"
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

namespace lazymoe::quant {

/// Every format the library can read. To add one: write its trait, add it here, add its test.
inline constexpr auto formats = boost::hana::tuple_t<F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K,
                                                     Q5_K, Q6_K, IQ4_NL, IQ4_XS, MXFP4>;

/// What the reader of a file needs to know about a type, without its C++ type.
struct Layout {
  std::string_view name;
  std::uint32_t block_elems = 0;  ///< 0: number not in the registry
  std::uint32_t block_bytes = 0;
};

/// Layout by wire number, built from `formats` while compiling.
inline constexpr auto layouts = [] {
  std::array<Layout, 64> table{};
  boost::hana::for_each(formats, [&table](auto format) {
    using F = typename decltype(format)::type;
    auto& slot = table.at(static_cast<std::size_t>(F::id));
    if (slot.block_elems != 0) throw "two formats share a wire number";  // ill-formed when reached
    slot = {F::name, F::block_elems, block_bytes<F>};
  });
  return table;
}();

[[noreturn]] inline void throw_unsupported(TypeId id) {
  throw Error(Errc::unsupported_type, "tensor type " + std::to_string(static_cast<std::uint32_t>(id)) +
                                          " is not one of the formats this library reads");
}

/// Whether `id` is in the registry. Any number may be asked about.
[[nodiscard]] constexpr bool is_supported(TypeId id) noexcept {
  const auto number = static_cast<std::size_t>(id);
  return number < layouts.size() && layouts[number].block_elems != 0;
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
/// @throws Error{unsupported_type} when `id` is not in the registry
template <class Fn>
auto visit_format(TypeId id, Fn&& fn) {
  return boost::hana::unpack(formats, [&](auto... format) {
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
