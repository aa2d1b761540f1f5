#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"

namespace lazymoe::generate {

/// How the next token is chosen. The defaults take the most likely one and change nothing.
struct SamplerOptions {
  float temperature = 0;               ///< 0: the most likely token; else logits are divided by it
  int top_k = 0;                       ///< keep the k most likely; 0: all
  float top_p = 1;                     ///< keep the most likely until they add up to p; 1: all
  float min_p = 0;                     ///< keep what is at least p times as likely as the most likely; 0: all
  float repetition_penalty = 1;        ///< makes recent tokens less likely; 1: no penalty
  std::size_t repetition_window = 64;  ///< how many of the last tokens are recent
  std::uint64_t seed = 0;
};

/// SplitMix64: a small generator whose numbers are the same everywhere.
/// @source Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }

  /// In [0, 1), a multiple of 2^-53.
  constexpr double next_unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Chooses tokens from logits: repetition penalty, then top-k, top-p, min-p, then temperature and a draw; the order
/// of llama.cpp. Among equal logits the lower id counts as more likely.
///
/// Equal seeds and logits give equal tokens: one random number is drawn per token, none at temperature 0. Sums are
/// taken in double precision in one order; across C libraries the tokens can differ only where exp() rounds
/// differently just at a border.
/// @thread one at a time
/// @source penalty: Keskar et al., "CTRL", 2019. top-p: Holtzman et al., "The Curious Case of Neural Text
///         Degeneration", 2019. min-p: Nguyen et al., "Turning Up the Heat", 2024
class Sampler {
 public:
  /// @throws Error{bad_argument} for options out of range
  explicit Sampler(SamplerOptions options) : options_(options), random_(options.seed) {
    const auto check = [](bool good, const char* rule) {
      if (!good) throw Error(Errc::bad_argument, std::string("sampler: ") + rule);
    };
    check(std::isfinite(options.temperature) && options.temperature >= 0, "temperature must be 0 or more");
    check(options.top_k >= 0, "top_k must be 0 (all) or more");
    check(options.top_p > 0 && options.top_p <= 1, "top_p must be above 0 and at most 1");
    check(options.min_p >= 0 && options.min_p <= 1, "min_p must be from 0 to 1");
    check(std::isfinite(options.repetition_penalty) && options.repetition_penalty > 0,
          "repetition_penalty must be above 0");
  }

  /// The next token; `recent` are the tokens so far, the last one last.
  /// @throws Error{bad_argument} when no logit is finite, one is NaN or +infinity, or a recent token has no logit
  [[nodiscard]] TokenId sample(std::span<const float> logits, std::span<const TokenId> recent) {
    collect(logits);
    penalise(recent);
    if (options_.temperature == 0) return std::ranges::min_element(candidates_, more_likely)->token;
    keep_top_k();
    keep_top_p();
    keep_min_p();
    return draw();
  }

 private:
  struct Candidate {
    float logit;
    TokenId token;
  };

  static bool more_likely(const Candidate& a, const Candidate& b) noexcept {
    return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
  }
  static bool less_likely(const Candidate& a, const Candidate& b) noexcept { return more_likely(b, a); }

  void collect(std::span<const float> logits) {
    candidates_.clear();
    bool any = false;
    for (const float logit : logits) {
      const auto token = static_cast<TokenId>(candidates_.size());
      if (std::isnan(logit) || logit == std::numeric_limits<float>::infinity()) {
        throw Error(Errc::bad_argument,
                    "logits: the one of token " + std::to_string(token) + " is not a finite number");
      }
      any = any || std::isfinite(logit);
      candidates_.push_back({logit, token});
    }
    if (!any) throw Error(Errc::bad_argument, "logits: none of " + std::to_string(logits.size()) + " is finite");
  }

  // Each recent token once, however often it came.
  void penalise(std::span<const TokenId> recent) {
    if (options_.repetition_penalty == 1) return;
    const auto window = recent.last(std::min(recent.size(), options_.repetition_window));
    penalised_.assign(window.begin(), window.end());
    std::ranges::sort(penalised_);
    penalised_.erase(std::unique(penalised_.begin(), penalised_.end()), penalised_.end());
    for (const TokenId token : penalised_) {
      if (token < 0 || static_cast<std::size_t>(token) >= candidates_.size()) {
        throw Error(Errc::bad_argument, "recent tokens: " + std::to_string(token) + " has no logit");
      }
      float& logit = candidates_[static_cast<std::size_t>(token)].logit;
      logit = logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
    }
  }

  void keep_top_k() {
    const auto k = static_cast<std::size_t>(options_.top_k);
    if (k == 0 || k >= candidates_.size()) return;
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(k);
    std::ranges::nth_element(candidates_, end, more_likely);
    candidates_.erase(end, candidates_.end());
    std::ranges::sort(candidates_, more_likely);  // a draw needs one order on every platform
  }

  void keep_top_p() {
    if (options_.top_p == 1) return;
    const float largest = largest_logit();
    double missing = static_cast<double>(options_.top_p) * total_weight(largest, 1);
    // Mostly a few tokens are enough: a heap gives them without sorting the vocabulary.
    std::ranges::make_heap(candidates_, less_likely);
    auto rest = candidates_.end();
    while (rest != candidates_.begin() && missing > 0) {
      std::ranges::pop_heap(candidates_.begin(), rest, less_likely);
      --rest;
      missing -= weight(*rest, largest, 1);
    }
    candidates_.erase(candidates_.begin(), rest);
    std::ranges::reverse(candidates_);
  }

  void keep_min_p() {
    if (options_.min_p == 0) return;
    const float least = largest_logit() + std::log(options_.min_p);
    std::erase_if(candidates_, [least](const Candidate& c) { return c.logit < least; });
  }

  [[nodiscard]] TokenId draw() {
    const float largest = largest_logit();
    double left = random_.next_unit() * total_weight(largest, options_.temperature);
    TokenId drawn = no_token;
    for (const Candidate& candidate : candidates_) {
      const double share = weight(candidate, largest, options_.temperature);
      if (share == 0) continue;
      drawn = candidate.token;  // the last one stays if rounding leaves a remainder
      left -= share;
      if (left < 0) break;
    }
    return drawn;
  }

  [[nodiscard]] float largest_logit() const { return std::ranges::min_element(candidates_, more_likely)->logit; }

  // Probability, in units of the most likely token's.
  [[nodiscard]] static double weight(const Candidate& candidate, float largest, float temperature) {
    return std::exp((static_cast<double>(candidate.logit) - static_cast<double>(largest)) /
                    static_cast<double>(temperature));
  }

  [[nodiscard]] double total_weight(float largest, float temperature) const {
    double total = 0;
    for (const Candidate& candidate : candidates_) total += weight(candidate, largest, temperature);
    return total;
  }

  SamplerOptions options_;
  SplitMix64 random_;
  std::vector<Candidate> candidates_;
  std::vector<TokenId> penalised_;
};

}  // namespace lazymoe::generate
