#pragma once

#include <lazymoe/core/error.hpp>
#include <string>

namespace lazymoe::test {

/// The error that `call` ends in, to check its code and its message; a failed check says "nothing was thrown".
template <class Call>
[[nodiscard]] Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(Errc{-1}, "nothing was thrown");
}

[[nodiscard]] inline bool mentions(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

}  // namespace lazymoe::test
