#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "programs/chat_model.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"

namespace lazymoe::test {

namespace {

std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the first program answers", "[programs][first]") {
  const Ended ended = run_program("first", {bundled_model, "What is the capital of Kenya?"});
  CHECK(ended.out == "The capital of Kenya is Nairobi.\n");
  CHECK(ended.err.empty());
  CHECK(ended.exit_code == 0);
}

TEST_CASE("the first program says what is wrong", "[programs][first]") {
  const Ended alone = run_program("first", {});
  CHECK(alone.exit_code == 1);
  CHECK(alone.err == "usage: first MODEL.gguf QUESTION\n");
  const Ended lost = run_program("first", {"/nowhere.gguf", "x"});
  CHECK(lost.exit_code == 1);
  CHECK(lost.out.empty());
  CHECK(lost.err == "/nowhere.gguf: cannot open: No such file or directory\n");
}

TEST_CASE("the first program is short, and the README shows it word for word", "[programs][first]") {
  const std::string program = content(LAZYMOE_MODELS_DIR "/../first/main.cpp");
  CHECK(std::ranges::count(program, '\n') < 25);
  CHECK(program.ends_with("}\n"));
  CHECK(content(LAZYMOE_MODELS_DIR "/../../README.md").find("```cpp\n" + program + "```\n") != std::string::npos);
}

}  // namespace lazymoe::test
