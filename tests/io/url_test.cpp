#include <lazymoe/io/url.hpp>

#include "support/catch.hpp"

namespace lazymoe::io {

TEST_CASE("URLs are told from paths", "[io][remote]") {
  CHECK(is_url("http://host/file"));
  CHECK(is_url("HTTPS://host/file"));
  CHECK(is_url("https://host/file"));
  CHECK_FALSE(is_url("http:/host/file"));
  CHECK_FALSE(is_url("models/http://host"));
  CHECK_FALSE(is_url("ftp://host/file"));
  CHECK_FALSE(is_url(""));
}

}  // namespace lazymoe::io
