#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include <lazymoe/gguf/file.hpp>
#include <lazymoe/models/load.hpp>
#include <lazymoe/parallel/thread_pool.hpp>
#include <lazymoe/store/all_resident.hpp>

#include "support/tiny_moe.hpp"

namespace lazymoe::test {

/// A model with all its experts in memory.
struct Loaded {
  explicit Loaded(const std::filesystem::path& path, unsigned threads = 2,
                  models::WeightStorage how = models::WeightStorage::read)
      : file(path), pool(threads), experts(file), model(models::load_model(file, experts, pool, how)) {}

  gguf::File file;
  parallel::ThreadPool pool;
  store::AllResident<> experts;
  models::Model model;
};

/// `n` tokens of a vocabulary, the same on every machine.
[[nodiscard]] inline std::vector<TokenId> some_tokens(std::size_t n, std::size_t n_vocab, std::uint64_t seed = 5) {
  Noise noise(seed);
  std::vector<TokenId> tokens(n);
  for (TokenId& t : tokens) t = static_cast<TokenId>(noise.bits() % n_vocab);
  return tokens;
}

/// Logits of every token, run at the end of `sequence`.
[[nodiscard]] inline std::vector<float> all_logits(const models::Model& model, models::Sequence& sequence,
                                                   std::span<const TokenId> tokens) {
  std::vector<float> logits(tokens.size() * model.config().n_vocab);
  model.forward(sequence, tokens, logits);
  return logits;
}

/// The same in a sequence of their own.
[[nodiscard]] inline std::vector<float> all_logits(const models::Model& model, std::span<const TokenId> tokens,
                                                   const models::SequenceOptions& options = {}) {
  return all_logits(model, *model.new_sequence(options), tokens);
}

}  // namespace lazymoe::test
