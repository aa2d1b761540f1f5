#include <lazymoe/trace/parse.hpp>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::trace {
namespace {

constexpr KeySpace space{.layers = 2, .experts = 10};

/// "layer: experts" of every step.
std::vector<std::string> steps(const RoutingTrace& trace) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trace.n_steps(); ++i) {
    std::string& line = lines.emplace_back(std::to_string(space.layer(trace.step(i).front())) + ":");
    for (const ExpertKey key : trace.step(i)) line += ' ' + std::to_string(space.expert(key));
  }
  return lines;
}

}  // namespace

TEST_CASE("The lines of `logits --routes` become steps token by token", "[trace]") {
  const auto trace = parse_routes(
      "{\"layer\":1,\"experts\":[[5,6],[7,8]]}\n"
      "{ \"layer\": 0, \"experts\": [ [1, 2], [3] ] }\r\n",
      space, "t");
  CHECK(steps(trace) == std::vector<std::string>{"0: 1 2", "1: 5 6", "0: 3", "1: 7 8"});
  CHECK(parse_routes("", space, "t").n_steps() == 0);
}

TEST_CASE("A table of routes becomes steps line by line", "[trace]") {
  const auto trace = parse_routes_csv("token,layer,e0,e1\n0,0,1,2\n0,1,9,0\n1,0,4\n", space, "t");
  CHECK(steps(trace) == std::vector<std::string>{"0: 1 2", "1: 9 0", "0: 4"});
}

TEST_CASE("A line that is no routes is refused by its number", "[trace]") {
  const std::string good = "{\"layer\":0,\"experts\":[[1]]}\n";
  const std::string bad = GENERATE(
      "x", "{", "{\"layer\":2,\"experts\":[[1]]}", "{\"layer\":0,\"experts\":[[1]]}", "{\"layer\":1,\"experts\":[]}",
      "{\"layer\":1,\"experts\":[[]]}", "{\"layer\":1,\"experts\":[[10]]}", "{\"layer\":1,\"experts\":[[1,1]]}",
      "{\"layer\":1,\"experts\":[[1]}", "{\"layer\":1,\"experts\":[[1]]", "{\"layer\":1,\"experts\":[[1]]}}",
      "{\"layer\":-1,\"experts\":[[1]]}", "{\"layer\":1,\"experts\":[[99999999999]]}");
  CAPTURE(bad);
  const Error error = test::error_of([&] { (void)parse_routes(good + "\n" + bad, space, "routes.jsonl"); });
  CHECK(error.code() == Errc::bad_argument);
  CHECK(std::string(error.what()).find("routes.jsonl: line 3 ") == 0);
}

TEST_CASE("A row that is no routes is refused by its number", "[trace]") {
  const std::string bad = GENERATE("1", "1,0", "1,0,", "1,0,10", "1,2,0", "1,0,1,1", "1,0,1;2", "x,0,1");
  CAPTURE(bad);
  const Error error =
      test::error_of([&] { (void)parse_routes_csv("token,layer,e0\n0,0,1\n" + bad + "\n", space, "routes.csv"); });
  CHECK(error.code() == Errc::bad_argument);
  CHECK(std::string(error.what()).find("routes.csv: line 3 ") == 0);
  CHECK(test::error_of([&] { (void)parse_routes_csv("0,0,1\n", space, "t"); }).code() == Errc::bad_argument);
}

}  // namespace lazymoe::trace
