#include <lazymoe/models/memory.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

#include "models/loaded.hpp"
#include "support/catch.hpp"

namespace lazymoe::models {

TEST_CASE("What a model takes beside its experts is known before it is loaded", "[models]") {
  const std::string name = GENERATE(as<std::string>{}, "qwen3moe/Q8_0", "glm-flash/Q8_0", "qwen35moe/F32", "gpt-oss/Q8_0");
  CAPTURE(name);
  const test::Loaded loaded(std::string(LAZYMOE_GOLDEN_DIR) + "/models/" + name + ".gguf");
  const SequenceOptions options{.n_ctx = 100, .n_batch = 7};
  const MemoryNeeds needs = memory_needs(loaded.file, options);
  CHECK(needs.n_ctx == 100);
  CHECK(needs.weights == loaded.model.weight_bytes());  // without the blocks of next-token prediction
  CHECK(needs.state == loaded.model.new_sequence(options)->bytes());
  CHECK(needs.scratch > 0);
  CHECK(memory_needs(loaded.file, {.n_ctx = 100, .n_batch = 70}).scratch > 5 * needs.scratch);
}

TEST_CASE("A context of more than the model allows is counted as what it allows", "[models]") {
  const gguf::File file(LAZYMOE_GOLDEN_DIR "/models/qwen3moe/Q8_0.gguf");
  const auto most = file.metadata().require<std::size_t>("qwen3moe.context_length");
  CHECK(memory_needs(file, {.n_ctx = 2 * most}).n_ctx == most);
  CHECK(memory_needs(file, {}).n_ctx == std::min<std::size_t>(most, 4096));
}

}  // namespace lazymoe::models
