#pragma once

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace lazymoe {

/// What went wrong, for programs; the message says it to people.
enum class Errc {
  io,                    ///< the operating system refused or a read came up short
  bad_file,              ///< not a GGUF file, or one that breaks its own rules
  unsupported_type,      ///< a tensor type outside the registry
  unsupported_model,     ///< an architecture or a hyper-parameter this library does not run
  bad_tensor,            ///< tensors missing or of the wrong shape
  bad_metadata,          ///< a metadata key missing, of the wrong type or out of range
  bad_argument,          ///< the caller asked for something impossible
  unsupported_tokenizer, ///< a tokenizer model or pre-tokenizer this library does not know
  unsupported_template,  ///< a chat template this library does not recognise
  over_budget,           ///< what was asked does not fit the memory it was given
  context_full,          ///< more tokens than the context holds
};

/// The one exception of the library: bad input and failed I/O. The message is one sentence that names
/// the file, tensor or key, and the reason. Broken promises of the caller are asserts instead.
class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& what) : std::runtime_error(what), code_(code) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

/// Throws Error{io} for the current `errno`, naming what was tried on which file.
[[noreturn]] inline void throw_errno(std::string_view action, std::string_view path) {
  const int code = errno;
  throw Error(Errc::io, std::string(path) + ": cannot " + std::string(action) + ": " +
                            std::generic_category().message(code));
}

/// The same for a place in the file.
[[noreturn]] inline void throw_errno(std::string_view action, std::string_view path, std::uint64_t offset) {
  const int code = errno;
  throw Error(Errc::io, std::string(path) + ": cannot " + std::string(action) + " at offset " +
                            std::to_string(offset) + ": " + std::generic_category().message(code));
}

}  // namespace lazymoe
