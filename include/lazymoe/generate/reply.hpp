#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace lazymoe::generate {

/// What a piece of a reply belongs to.
enum class Part : std::uint8_t {
  thinking,  ///< what the model says to itself first
  answer,
};

/// Told how many tokens of how many of a prompt have been run; false cancels the reply.
using PromptProgress = std::function<bool(std::size_t done, std::size_t total)>;

/// How a reply went.
struct Reply {
  enum class End : std::uint8_t {
    model,         ///< the model ended it
    stop_text,     ///< a stop string came
    max_tokens,    ///< as many as were allowed
    cancelled,     ///< by a callback
    context_full,  ///< it fills the context, and no older turn is left to drop
  };

  std::string text;      ///< the answer
  std::string thinking;  ///< what the model thought before it; most models do not
  End end = End::model;
  std::size_t n_reused = 0;         ///< prompt tokens that were still in the KV cache
  std::size_t n_prompt = 0;         ///< prompt tokens that were run
  std::size_t n_generated = 0;      ///< tokens sampled, the end token included
  std::size_t n_dropped_turns = 0;  ///< oldest turns that had to leave a full context
  std::uint64_t prompt_ns = 0;
  std::uint64_t generate_ns = 0;
};

}  // namespace lazymoe::generate
