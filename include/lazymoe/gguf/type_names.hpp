#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../core/error.hpp"
#include "../quant/format.hpp"
#include "../quant/registry.hpp"

namespace lazymoe::gguf {

/// A tensor type by wire number. Those that were not removed are in quant::layouts.
struct TypeName {
  std::string_view name;
  std::string_view instead;  ///< for types removed from the format: what to requantize to
};

/// Every wire number that was ever given out.
/// @source ggml.h, enum ggml_type
inline constexpr std::array<TypeName, 43> type_names{{
    {"F32", {}},
    {"F16", {}},
    {"Q4_0", {}},
    {"Q4_1", {}},
    {"Q4_2", "Q4_0"},
    {"Q4_3", "Q4_1"},
    {"Q5_0", {}},
    {"Q5_1", {}},
    {"Q8_0", {}},
    {"Q8_1", {}},
    {"Q2_K", {}},
    {"Q3_K", {}},
    {"Q4_K", {}},
    {"Q5_K", {}},
    {"Q6_K", {}},
    {"Q8_K", {}},
    {"IQ2_XXS", {}},
    {"IQ2_XS", {}},
    {"IQ3_XXS", {}},
    {"IQ1_S", {}},
    {"IQ4_NL", {}},
    {"IQ3_S", {}},
    {"IQ2_S", {}},
    {"IQ4_XS", {}},
    {"I8", {}},
    {"I16", {}},
    {"I32", {}},
    {"I64", {}},
    {"F64", {}},
    {"IQ1_M", {}},
    {"BF16", {}},
    {"Q4_0_4_4", "Q4_0"},
    {"Q4_0_4_8", "Q4_0"},
    {"Q4_0_8_8", "Q4_0"},
    {"TQ1_0", {}},
    {"TQ2_0", {}},
    {"IQ4_NL_4_4", "IQ4_NL"},
    {"IQ4_NL_4_8", "IQ4_NL"},
    {"IQ4_NL_8_8", "IQ4_NL"},
    {"MXFP4", {}},
    {"NVFP4", {}},
    {"Q1_0", {}},
    {"Q2_0", {}},
}};

/// "Q4_K", or the number if nobody gave it out. Unlike quant::type_name it knows the types nobody reads.
[[nodiscard]] inline std::string describe_type(quant::TypeId type) {
  const auto number = static_cast<std::uint32_t>(type);
  return number < type_names.size() ? std::string(type_names[number].name) : std::to_string(number);
}

/// The layout of a type this library reads.
/// @throws Error{unsupported_type} beginning with `where`, which names file and tensor
[[nodiscard]] inline const quant::Layout& layout_of(quant::TypeId type, const std::string& where) {
  if (quant::is_supported(type)) return quant::layout(type);
  const auto number = static_cast<std::uint32_t>(type);
  std::string reason = ": type " + std::to_string(number);
  if (number >= type_names.size()) {
    reason += " is unknown; the file is newer than this library, or damaged";
  } else {
    reason += " (" + describe_type(type) + ") was removed from the format; requantize to " +
              std::string(type_names[number].instead);
  }
  throw Error(Errc::unsupported_type, where + reason);
}

}  // namespace lazymoe::gguf
