#include <lazymoe/models/delta_rule.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "reference/delta_net.hpp"
#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

constexpr std::size_t chunk = 16;

/// Keys and queries of length 1, values, and gates, of one head.
struct Tokens {
  Tokens(std::size_t tokens, std::size_t width, std::uint64_t seed) : n(tokens), d(width) {
    test::Noise noise(seed);
    for (auto* x : {&keys, &queries}) {
      for (std::size_t t = 0; t < n; ++t) {
        auto row = noise.values(d);
        float squares = 0.0F;
        for (const float v : row) squares += v * v;
        for (const float v : row) x->push_back(v / std::sqrt(squares));
      }
    }
    values = noise.values(n * d);
    for (std::size_t t = 0; t < n; ++t) {
      const float u = noise.value();
      log_decays.push_back(-0.5F * u * u);
      betas.push_back(0.5F + 0.5F * noise.value());
    }
  }

  std::size_t n;
  std::size_t d;
  std::vector<float> keys, queries, values, log_decays, betas;
};

struct Result {
  std::vector<float> out;    // [n, d]
  std::vector<float> state;  // [value][key], of the last full chunk

  bool operator==(const Result&) const = default;
};

Result run_steps(const Tokens& in) {
  const std::size_t d = in.d;
  Result r{std::vector<float>(in.n * d), std::vector<float>(d * d)};
  for (std::size_t t = 0; t < in.n; ++t) {
    delta_step(r.state.data(), in.keys.data() + t * d, in.queries.data() + t * d, in.values.data() + t * d,
               in.log_decays[t], in.betas[t], d, r.out.data() + t * d);
  }
  return r;
}

/// At most `n_batch` tokens at once.
Result run_chunks(const Tokens& in, std::size_t n_batch) {
  const std::size_t d = in.d;
  Result r{std::vector<float>(in.n * d), std::vector<float>(d * d)};
  std::vector<float> memory(d * d);
  std::vector<float> keys(chunk * d);
  std::vector<float> deltas(chunk * d);
  std::vector<float> decays(chunk);
  DeltaChunk work(chunk, d);
  for (std::size_t t = 0; t < in.n;) {
    const std::size_t n = std::min({n_batch, in.n - t, chunk - t % chunk});
    work.load(keys.data(), t % chunk, n, in.keys.data() + t * d, in.queries.data() + t * d, d);
    work.run({.memory = memory.data(), .deltas = deltas.data(), .decays = decays.data()},
             {.values = in.values.data() + t * d,
              .value_stride = d,
              .log_decays = in.log_decays.data() + t,
              .betas = in.betas.data() + t,
              .gate_stride = 1},
             r.out.data() + t * d, d);
    t += n;
  }
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) r.state[j * d + i] = memory[DeltaChunk::index(i, j, d)];
  }
  return r;
}

/// The largest difference from the reference, in parts of the root mean square.
double error(const Tokens& in, const Result& r) {
  reference::DeltaRule rule(in.d);
  reference::Vector out;
  const auto row = [&](const std::vector<float>& x, std::size_t t) {
    return reference::to_double(std::span(x).subspan(t * in.d, in.d));
  };
  for (std::size_t t = 0; t < in.n; ++t) {
    const auto o = rule.step(row(in.keys, t), row(in.queries, t), row(in.values, t),
                             static_cast<double>(in.log_decays[t]), static_cast<double>(in.betas[t]));
    out.insert(out.end(), o.begin(), o.end());
  }
  reference::Vector state;
  for (std::size_t j = 0; j < in.d; ++j) {
    for (std::size_t i = 0; i < in.d; ++i) state.push_back(rule.state[i][j]);
  }
  return std::max(reference::difference(r.out, out), reference::difference(r.state, state));
}

/// Relative rms.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double differences = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    squares += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(differences / squares);
}

}  // namespace

TEST_CASE("Both forms of the delta rule follow the formula", "[models]") {
  for (const std::size_t d : {16U, 32U, 48U, 128U}) {
    CAPTURE(d);
    const Tokens in(3 * chunk, d, d);
    CHECK(error(in, run_steps(in)) < 1e-5);
    CHECK(error(in, run_chunks(in, chunk)) < 1e-5);
  }
}

TEST_CASE("It does not matter how the tokens of a chunk are split", "[models]") {
  for (const std::size_t d : {16U, 64U, 128U}) {
    const Tokens in(3 * chunk + 5, d, 1);
    const Result expected = run_chunks(in, 1);
    for (const std::size_t n_batch : {2U, 3U, 5U, 7U, 11U, 16U}) {
      CAPTURE(d, n_batch);
      CHECK(run_chunks(in, n_batch) == expected);
    }
  }
}

TEST_CASE("After 512 tokens chunks and steps are a millionth apart", "[models]") {
  const Tokens in(512, 128, 2);
  const Result steps = run_steps(in);
  const Result chunks = run_chunks(in, chunk);
  CHECK(distance(chunks.out, steps.out) < 1e-6);
  CHECK(distance(chunks.state, steps.state) < 1e-6);
}

TEST_CASE("Neither form minds a head that forgets all or nothing", "[models]") {
  for (const float log_decay : {0.0F, -80.0F, -200.0F}) {
    for (const float beta : {0.0F, 1.0F}) {
      CAPTURE(log_decay, beta);
      Tokens in(3 * chunk, 16, 3);
      std::fill(in.log_decays.begin(), in.log_decays.end(), log_decay);
      std::fill(in.betas.begin(), in.betas.end(), beta);
      const Result steps = run_steps(in);
      const Result chunks = run_chunks(in, chunk);
      for (std::size_t i = 0; i < steps.out.size(); ++i) {
        CHECK(std::abs(chunks.out[i] - steps.out[i]) < 1e-5F);
      }
    }
  }
}

}  // namespace lazymoe::models
