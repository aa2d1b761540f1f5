#include <cmath>
#include <cstddef>
#include <lazymoe/generate/sampler.hpp>
#include <limits>
#include <map>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::generate {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int draws = 20'000;

/// How often each token is drawn, as a share of all draws.
std::map<TokenId, double> shares(SamplerOptions options, const std::vector<float>& logits,
                                 const std::vector<TokenId>& recent = {}) {
  Sampler sampler(options);
  std::map<TokenId, double> shares;
  for (int i = 0; i < draws; ++i) shares[sampler.sample(logits, recent)] += 1.0 / draws;
  return shares;
}

/// The logits of these probabilities.
std::vector<float> logits_of(const std::vector<float>& probabilities) {
  std::vector<float> logits;
  for (const float p : probabilities) logits.push_back(std::log(p));
  return logits;
}

const std::vector<float> logits = logits_of({0.1F, 0.4F, 0.2F, 0.3F});

}  // namespace

TEST_CASE("SplitMix64 gives the numbers of its authors", "[generate][sampler]") {
  SplitMix64 random(1234567);
  CHECK(random.next() == 6457827717110365317ULL);
  CHECK(random.next() == 3203168211198807973ULL);
  CHECK(random.next() == 9817491932198370423ULL);
}

TEST_CASE("without temperature the most likely token is taken, of equals the lower id", "[generate][sampler]") {
  Sampler sampler({});
  CHECK(sampler.sample(logits, {}) == 1);
  CHECK(sampler.sample(std::vector<float>{1, 2, 2, -infinity}, {}) == 1);
  CHECK(sampler.sample(std::vector<float>{-3}, {}) == 0);
}

TEST_CASE("tokens are drawn as often as they are likely", "[generate][sampler]") {
  SamplerOptions options{.temperature = 1};
  const double error = 4 * std::sqrt(0.25 / draws);  // four standard deviations of a share, at most
  SECTION("at temperature 1") {
    auto share = shares(options, logits);
    CHECK(std::abs(share[0] - 0.1) < error);
    CHECK(std::abs(share[1] - 0.4) < error);
    CHECK(std::abs(share[2] - 0.2) < error);
  }
  SECTION("at temperature 1/2 by squares") {
    options.temperature = 0.5F;
    auto share = shares(options, logits);
    CHECK(std::abs(share[1] - 0.16 / 0.30) < error);
    CHECK(std::abs(share[0] - 0.01 / 0.30) < error);
  }
  SECTION("top-k leaves k, the rest in proportion") {
    options.top_k = 2;
    auto share = shares(options, logits);
    CHECK(share.size() == 2);
    CHECK(std::abs(share[1] - 0.4 / 0.7) < error);
  }
  SECTION("top-p leaves the fewest that reach p") {
    options.top_p = 0.65F;
    auto share = shares(options, logits);
    CHECK(share.size() == 2);
    CHECK(std::abs(share[3] - 0.3 / 0.7) < error);
    options.top_p = 0.75F;
    CHECK(shares(options, logits).size() == 3);
    options.top_p = 1e-6F;
    CHECK(shares(options, logits).size() == 1);
  }
  SECTION("min-p leaves what is likely enough beside the most likely") {
    options.min_p = 0.45F;
    CHECK(shares(options, logits).size() == 3);
    options.min_p = 1;
    CHECK(shares(options, logits).size() == 1);
  }
  SECTION("top-p counts what top-k left") {
    options.top_k = 2;
    options.top_p = 0.55F;  // of the two left, 4/7 is enough; of all four, 0.4 would not be
    CHECK(shares(options, logits).size() == 1);
  }
}

TEST_CASE("filters look at likelihood before temperature", "[generate][sampler]") {
  CHECK(shares({.temperature = 100, .top_p = 0.65F}, logits).size() == 2);
  CHECK(shares({.temperature = 100, .min_p = 0.45F}, logits).size() == 3);
}

TEST_CASE("impossible tokens are never drawn, and a tiny temperature takes the most likely", "[generate][sampler]") {
  const std::vector<float> masked{-infinity, 0, -infinity, 0, -infinity};
  for (const auto& [token, share] : shares({.temperature = 5}, masked)) CHECK((token == 1 || token == 3));
  CHECK(shares({.temperature = 1e-30F}, logits) == shares({.temperature = 1, .top_k = 1}, logits));
}

TEST_CASE("equal logits are cut off by id", "[generate][sampler]") {
  const auto share = shares({.temperature = 1, .top_k = 2}, {1, 1, 1, 1, 1});
  CHECK(share.size() == 2);
  CHECK(share.count(0) == 1);
  CHECK(share.count(1) == 1);
}

TEST_CASE("the repetition penalty divides positive and multiplies negative logits, once a token",
          "[generate][sampler]") {
  Sampler sampler({.repetition_penalty = 2, .repetition_window = 3});
  CHECK(sampler.sample(std::vector<float>{3, 2}, std::vector<TokenId>{0}) == 1);
  CHECK(sampler.sample(std::vector<float>{3, 1}, std::vector<TokenId>{0, 0, 0}) == 0);
  CHECK(sampler.sample(std::vector<float>{-1, -1.5F}, std::vector<TokenId>{0}) == 1);
  CHECK(sampler.sample(std::vector<float>{3, 2}, std::vector<TokenId>{0, 1, 1, 1}) == 0);
}

TEST_CASE("equal seeds give equal tokens", "[generate][sampler]") {
  const auto run = [](std::uint64_t seed) {
    Sampler sampler({.temperature = 1, .top_k = 4, .top_p = 0.95F, .min_p = 0.05F, .seed = seed});
    std::vector<TokenId> tokens;
    for (int i = 0; i < 12; ++i) tokens.push_back(sampler.sample(logits, {}));
    return tokens;
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

TEST_CASE("a draw is one number of the generator, laid along the tokens in order", "[generate][sampler]") {
  Sampler sampler({.temperature = 1, .seed = 7});
  SplitMix64 random(7);
  for (int i = 0; i < 100; ++i) {
    const auto quarter = static_cast<TokenId>(4 * random.next_unit());
    REQUIRE(sampler.sample(std::vector<float>{1, 1, 1, 1}, {}) == quarter);
  }
}

TEST_CASE("options out of range are refused", "[generate][sampler]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const SamplerOptions bad[] = {
      {.temperature = -1},
      {.temperature = nan},
      {.temperature = infinity},
      {.top_k = -1},
      {.top_p = 0},
      {.top_p = 1.1F},
      {.top_p = nan},
      {.min_p = -0.1F},
      {.min_p = 1.1F},
      {.repetition_penalty = 0},
      {.repetition_penalty = nan},
  };
  for (const SamplerOptions& options : bad) {
    CHECK(test::error_of([&] { (void)Sampler(options); }).code() == Errc::bad_argument);
  }
}

TEST_CASE("logits that are no numbers are refused", "[generate][sampler]") {
  Sampler sampler({.repetition_penalty = 2});
  const auto refused = [&](const std::vector<float>& values, const std::vector<TokenId>& recent) {
    return test::error_of([&] { (void)sampler.sample(values, recent); }).code() == Errc::bad_argument;
  };
  CHECK(refused({0, std::nanf("")}, {}));
  CHECK(refused({0, infinity}, {}));
  CHECK(refused({-infinity, -infinity}, {}));
  CHECK(refused({}, {}));
  CHECK(refused({0, 1}, {2}));
  CHECK(refused({0, 1}, {-1}));
}

}  // namespace lazymoe::generate
