#include <lazymoe/gguf/detail/quote.hpp>

#include "support/catch.hpp"

namespace lazymoe::gguf::detail {

TEST_CASE("Names from files are safe to print", "[gguf]") {
  CHECK(in_quotes("blk.0.attn_q.weight") == "'blk.0.attn_q.weight'");
  CHECK(in_quotes("") == "''");
  CHECK(in_quotes("\x1B[2J\xC3\xA9") == "'\\x1B[2J\\xC3\\xA9'");
  CHECK(in_quotes(std::string(80, 'a')) == "'" + std::string(80, 'a') + "'");
  CHECK(in_quotes(std::string(81, 'a')) == "'" + std::string(80, 'a') + "...'");
}

}  // namespace lazymoe::gguf::detail
