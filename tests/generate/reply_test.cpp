#include <lazymoe/generate/reply.hpp>

#include "support/catch.hpp"

namespace lazymoe::generate {

TEST_CASE("A reply that nothing was done for says so", "[generate][reply]") {
  const Reply reply;
  CHECK(reply.text.empty());
  CHECK(reply.thinking.empty());
  CHECK(reply.end == Reply::End::model);
  CHECK(reply.n_prompt + reply.n_reused + reply.n_generated + reply.n_dropped_turns == 0);
  CHECK(reply.prompt_ns + reply.generate_ns == 0);
}

}  // namespace lazymoe::generate
