#include <lazymoe/core/error.hpp>

#include <cerrno>

#include "support/catch.hpp"

namespace lazymoe {

namespace {

template <class Fn>
Error thrown_by(Fn fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error;
  }
  return {Errc::bad_argument, "nothing was thrown"};
}

}  // namespace

TEST_CASE("throw_errno names the file, the action and the system's reason", "[core]") {
  const Error error = thrown_by([] {
    errno = ENOENT;
    throw_errno("open", "model.gguf");
  });
  CHECK(error.code() == Errc::io);
  CHECK(std::string(error.what()) == "model.gguf: cannot open: No such file or directory");
}

TEST_CASE("throw_errno names the place in the file if there is one", "[core]") {
  const Error error = thrown_by([] {
    errno = EIO;
    throw_errno("read", "model.gguf", std::uint64_t{1} << 40);
  });
  CHECK(std::string(error.what()) == "model.gguf: cannot read at offset 1099511627776: Input/output error");
}

}  // namespace lazymoe
