// libFuzzer target: any bytes are either a header whose promises hold or an Error, and it does not matter in how
// many pieces they arrive.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <lazymoe/core/error.hpp>
#include <lazymoe/gguf/parse.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace {

using namespace lazymoe;

void demand(bool condition) {
  if (!condition) std::abort();
}

void check_promises(const gguf::Header& header, Bytes file_bytes) {
  demand(header.bytes <= file_bytes);
  for (const auto& tensor : header.tensors) {
    demand(!tensor.name.empty() && tensor.n_dims >= 1 && tensor.n_dims <= 4);
    demand(tensor.bytes > 0 && tensor.offset >= header.bytes && tensor.offset % header.alignment == 0);
    demand(tensor.offset <= file_bytes && tensor.bytes <= file_bytes - tensor.offset);
    demand(!tensor.shape_text().empty() && tensor.elems() > 0);
  }
  for (const auto& [key, value] : header.metadata) {
    demand(header.metadata.value(key) == &value && !value.describe_type().empty());
    (void)value.as<std::int64_t>();
    (void)value.as<float>();
    (void)value.as_array<double>();
    (void)value.as_array<std::string_view>();
  }
}

/// Parses as gguf::File does: a few bytes first, more when asked.
/// @return the header's length, or nothing and the message in `error`
std::optional<Bytes> parse_in_pieces(std::span<const std::byte> file, std::size_t first, std::string& error) {
  std::size_t given = first;
  try {
    for (;;) {
      const auto result = gguf::parse(file.first(given), file.size(), "fuzz");
      if (const auto* const header = std::get_if<gguf::Header>(&result)) {
        check_promises(*header, file.size());
        return header->bytes;
      }
      const Bytes needed = std::get<gguf::NeedMore>(result).bytes;
      demand(needed > given && needed <= file.size());
      given = static_cast<std::size_t>(needed);
    }
  } catch (const Error& refused) {
    error = refused.what();
    return std::nullopt;
  }
}

/// The same bytes at the beginning of a file of a terabyte: its size lifts no limit and causes no allocation.
void parse_as_beginning(std::span<const std::byte> bytes) {
  try {
    const auto result = gguf::parse(bytes, 1024_GiB, "fuzz");
    if (const auto* const more = std::get_if<gguf::NeedMore>(&result)) demand(more->bytes > bytes.size());
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  std::string error_whole;
  std::string error_pieces;
  const auto whole = parse_in_pieces(file, size, error_whole);
  const auto pieces = parse_in_pieces(file, size / 3, error_pieces);
  demand(whole == pieces && error_whole == error_pieces);
  parse_as_beginning(file);
  return 0;
}
