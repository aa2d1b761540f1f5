#include <lazymoe/io/http.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/http_server.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::io {

TEST_CASE("A content range says first, last and length, or nothing is believed", "[io][http]") {
  const auto range = ContentRange::parse("bytes 10-19/1000");
  REQUIRE(range);
  CHECK(range->first == 10);
  CHECK(range->end == 20);
  CHECK(range->total == 1000);
  const auto broken = GENERATE(values<std::string>(
      {"", "bytes", "bytes ", "10-19/1000", "bytes 10-19", "bytes 10-19/*", "bytes 10-19/1000 ", "bytes 19-10/1000",
       "bytes 10-19/19", "bytes */1000", "bytes -19/1000", "bytes 10-/1000", "bytes 0-99999999999999999999/1000", "items 10-19/1000",
       "bytes 0-18446744073709551615/18446744073709551615", "bytes +1-2/3"}));
  CAPTURE(broken);
  CHECK_FALSE(ContentRange::parse(broken));
}

TEST_CASE("A range is asked for over a connection that is used again", "[io][http]") {
  if (test::no_nginx()) return;
  const test::TempDir dir;
  std::vector<std::byte> content(5000);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i % 251);
  (void)dir.write("file", content);
  const test::Nginx server(dir.path());

  HttpConnections http;
  std::vector<std::byte> into(100);
  for (Bytes offset = 0; offset < 5000; offset += 100) {
    const RangeAnswer answer = http.get(server.url() + "/file", offset, into);
    CHECK(answer.status == 206);
    CHECK(answer.failure.empty());
    CHECK(answer.received == 100);
    CHECK(answer.transferred > 100);
    REQUIRE(answer.range);
    CHECK(answer.range->first == offset);
    CHECK(answer.range->total == 5000);
    CHECK_FALSE(answer.etag.empty());
    CHECK_FALSE(answer.last_modified.empty());
    CHECK(std::equal(into.begin(), into.end(), content.begin() + static_cast<std::ptrdiff_t>(offset)));
  }
  CHECK(http.get(server.url() + "/absent", 0, into).status == 404);
  CHECK(http.get(server.url() + "/file", 5000, into).status == 416);

  std::set<std::string> connections;
  for (const auto& request : server.requests()) connections.insert(request.connection);
  CHECK(connections.size() == 1);
}

TEST_CASE("Nobody at the other end is a failure that may pass, a URL that is none is not", "[io][http]") {
  HttpConnections http;
  std::vector<std::byte> into(1);
  const RangeAnswer nobody = http.get("http://127.0.0.1:1/file", 0, into);
  CHECK(nobody.status == 0);
  CHECK_FALSE(nobody.failure.empty());
  CHECK(nobody.may_pass);
  for (const char* url : {"http://", "file:///etc/hostname", "ftp://127.0.0.1/file"}) {
    const RangeAnswer none = http.get(url, 0, into);
    CHECK(none.received == 0);
    CHECK_FALSE(none.failure.empty());
    CHECK_FALSE(none.may_pass);
  }
}

}  // namespace lazymoe::io
