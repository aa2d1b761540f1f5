#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "../core/contract.hpp"
#include "../core/error.hpp"
#include "encode/encoder.hpp"
#include "encode/q4_q5_k.hpp"
#include "encode/q6_k.hpp"
#include "encode/simple.hpp"
#include "encode/tables.hpp"
#include "registry.hpp"

namespace lazymoe::quant {

/// Packs a row: for fixtures and changes of representation.
///
/// @shape x[n] -> out[row_bytes<F>(n)]
/// @pre   n is a multiple of F::block_elems; x is finite
/// @error Encoder<F>::error times the largest magnitude of the block
template <EncodableFormat F>
void encode_row(std::span<const float> x, std::span<std::byte> out) noexcept {
  LAZYMOE_EXPECTS(x.size() % F::block_elems == 0 && out.size() == row_bytes<F>(x.size()));
  for (auto* to = out.data(); !x.empty(); x = x.subspan(F::block_elems), to += block_bytes<F>) {
    const auto block = Encoder<F>::run(x.template first<F::block_elems>());
    std::memcpy(to, &block, sizeof block);
  }
}

/// The same for a format known at run time.
/// @throws Error{unsupported_type} when the type is not a weight of the registry or has no encoder
inline void encode_row(TypeId type, std::span<const float> x, std::span<std::byte> out) {
  visit_format(type, [&](auto format) {
    using F = typename decltype(format)::type;
    if constexpr (EncodableFormat<F>) {
      encode_row<F>(x, out);
    } else {
      throw Error(Errc::unsupported_type,
                  std::string(F::name) + ": this library reads the format but does not write it");
    }
  });
}

}  // namespace lazymoe::quant
