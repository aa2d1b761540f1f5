#include <lazymoe/text/detail/json_text.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text::detail {

TEST_CASE("JSON is written as Python writes it", "[text][json]") {
  const auto written = [](std::string_view json) { return JsonText(json).value(); };
  CHECK(written(R"( {"b":[1,2.5e-3,-0],"a":{ } ,"c":[]} )") == R"({"b": [1, 2.5e-3, -0], "a": {}, "c": []})");
  CHECK(written("true") == "true");
  CHECK(written(R"("\u00e9\ud83d\ude00\/\u0001\u007f\"\\\n")") == "\"\u00E9\U0001F600/\\u0001\x7F\\\"\\\\\\n\"");
  CHECK(written(R"("\ud83d")") == "\"\uFFFD\"");
  CHECK(written(R"("\udc00\ud83dx")") == "\"\uFFFD\uFFFDx\"");
  CHECK(written(R"("\ud83d\u0041")") == "\"\uFFFDA\"");
}

TEST_CASE("members of an object come in order, strings as their characters", "[text][json]") {
  std::vector<std::string> seen;
  JsonText(R"({"a":"x\ny","":[1,"\u00e9"],"n":null})")
      .for_each_member([&](std::string_view key, std::string_view value, bool is_text) {
        seen.push_back(std::string(key).append(is_text ? "~" : "=").append(value));
      });
  CHECK(seen == std::vector<std::string>{"a~x\ny", "=[1, \"\u00E9\"]", "n=null"});
}

TEST_CASE("what is no JSON is an error that says where", "[text][json]") {
  for (const char* json :
       {"",     "{",  "[1,]",    "{\"a\"}",   "{\"a\":}", "{a:1}", "01",    "1.",  "1e",   "-",         "nul",
        "True", "\"", "\"\\x\"", "\"\\u12\"", "\"\n\"",   "1 2",   "[1 2]", "{,}", "\"\\", "[\"a\":1]", "{\"a\":1]"}) {
    CAPTURE(json);
    const Error error = test::error_of([&] { (void)JsonText(json).value(); });
    CHECK(error.code() == Errc::bad_argument);
    CHECK(test::mentions(error, "byte "));
  }
  CHECK(test::error_of([] { (void)JsonText(std::string(100'000, '[')).value(); }).code() == Errc::bad_argument);
  CHECK(test::error_of([] { JsonText("[1]").for_each_member([](auto...) {}); }).code() == Errc::bad_argument);
}

}  // namespace lazymoe::text::detail
