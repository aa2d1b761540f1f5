#include <lazymoe/core/contract.hpp>

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.hpp"

namespace lazymoe {
namespace {

/// Whether `fn` ends its process by abort(); it runs in a process of its own, whose words nobody hears.
template <class Fn>
bool aborts(Fn&& fn) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(STDERR_FILENO);
    (void)std::signal(SIGABRT, SIG_DFL);  // not the test program's own
    fn();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace

TEST_CASE("A broken promise ends the program where asserts are on, and costs nothing where they are off", "[core]") {
  int n_evaluated = 0;
  LAZYMOE_EXPECTS(++n_evaluated > 0);
  LAZYMOE_ENSURES(++n_evaluated > 0);
#if defined(NDEBUG)
  CHECK(n_evaluated == 0);
  constexpr bool checked = false;
#else
  CHECK(n_evaluated == 2);
  constexpr bool checked = true;
#endif
  CHECK(aborts([] { LAZYMOE_EXPECTS(1 + 1 == 3); }) == checked);
  CHECK(aborts([] { LAZYMOE_ENSURES(1 + 1 == 3); }) == checked);
  CHECK_FALSE(aborts([] { LAZYMOE_EXPECTS(1 + 1 == 2); }));
}

}  // namespace lazymoe
