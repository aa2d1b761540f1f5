// Speed of the two forms of the gated delta rule, in tokens a second through the recurrence of one layer of Qwen3.6:
// 16 key heads, 32 value heads of 128; 512 tokens, in batches of 32 as prompts run. Projections and convolution are not
// part of it. Also says how far the states of the two forms are apart.
//
//     bench_delta_net [REPETITIONS]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include <lazymoe/core/buffer.hpp>
#include <lazymoe/models/delta_rule.hpp>
#include <lazymoe/parallel/thread_pool.hpp>

namespace {

constexpr std::size_t n_key_heads = 16;
constexpr std::size_t n_value_heads = 32;
constexpr std::size_t d = 128;
constexpr std::size_t n_tokens = 512;
constexpr std::size_t n_batch = 32;
constexpr std::size_t chunk = 16;
constexpr std::size_t width = (2 * n_key_heads + n_value_heads) * d;

/// Aligned, as in a model: vectors across cache lines cost a quarter of the speed.
using Floats = lazymoe::AlignedArray<float>;

/// Keys and queries of length 1, values and gates as a trained layer has them.
struct Inputs {
  Floats channels = Floats(n_tokens * width);
  Floats log_decays = Floats(n_tokens * n_value_heads);
  Floats betas = Floats(n_tokens * n_value_heads);

  Inputs() {
    std::uint64_t state = 1;
    const auto uniform = [&] {
      state = state * 6364136223846793005U + 1442695040888963407U;
      return static_cast<float>(state >> 40) * 0x1p-24F;
    };
    for (float& x : channels.span()) x = 2.0F * uniform() - 1.0F;
    for (std::size_t t = 0; t < n_tokens; ++t) {
      for (std::size_t h = 0; h < 2 * n_key_heads; ++h) {
        float* x = channels.data() + t * width + h * d;
        float squares = 0.0F;
        for (std::size_t i = 0; i < d; ++i) squares += x[i] * x[i];
        for (std::size_t i = 0; i < d; ++i) x[i] /= std::sqrt(squares);
      }
    }
    for (float& x : log_decays.span()) x = -0.3F * uniform() * uniform();
    for (float& x : betas.span()) x = uniform();
  }
};

struct Run {
  Floats state = Floats(n_value_heads * d * d);
  Floats out = Floats(n_tokens * n_value_heads * d);
};

void run_steps(const Inputs& in, Run& run, lazymoe::parallel::ThreadPool& pool) {
  for (std::size_t first = 0; first < n_tokens; first += n_batch) {
    pool.parallel_for(n_key_heads, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t h = begin; h < end; ++h) {
        for (std::size_t v = h; v < n_value_heads; v += n_key_heads) {
          for (std::size_t t = first; t < first + n_batch; ++t) {
            const float* x = in.channels.data() + t * width;
            const std::size_t gate = t * n_value_heads + v;
            lazymoe::models::delta_step(run.state.data() + v * d * d, x + (n_key_heads + h) * d, x + h * d,
                                        x + (2 * n_key_heads + v) * d, in.log_decays[gate], in.betas[gate], d,
                                        run.out.data() + gate * d);
          }
        }
      }
    });
  }
}

void run_chunks(const Inputs& in, Run& run, lazymoe::parallel::ThreadPool& pool) {
  Floats keys(n_key_heads * chunk * d);
  Floats deltas(n_value_heads * chunk * d);
  Floats decays(n_value_heads * chunk);
  for (std::size_t first = 0; first < n_tokens; first += n_batch) {
    pool.parallel_for(n_key_heads, 1, [&](std::size_t begin, std::size_t end) {
      lazymoe::models::DeltaChunk work(chunk, d);
      for (std::size_t h = begin; h < end; ++h) {
        for (std::size_t t = first; t < first + n_batch; t += chunk) {
          const float* x = in.channels.data() + t * width;
          work.load(keys.data() + h * chunk * d, 0, chunk, x + (n_key_heads + h) * d, x + h * d, width);
          for (std::size_t v = h; v < n_value_heads; v += n_key_heads) {
            const std::size_t gate = t * n_value_heads + v;
            work.run({.memory = run.state.data() + v * d * d,
                      .deltas = deltas.data() + v * chunk * d,
                      .decays = decays.data() + v * chunk},
                     {.values = x + (2 * n_key_heads + v) * d,
                      .value_stride = width,
                      .log_decays = in.log_decays.data() + gate,
                      .betas = in.betas.data() + gate,
                      .gate_stride = n_value_heads},
                     run.out.data() + gate * d, n_value_heads * d);
          }
        }
      }
    });
  }
}

/// The best of some repetitions, in tokens a second.
template <class Form>
double speed(Form&& form, const Inputs& in, Run& last, lazymoe::parallel::ThreadPool& pool, int repetitions) {
  double best = 0.0;
  for (int i = 0; i < repetitions; ++i) {
    last = Run();
    const auto start = std::chrono::steady_clock::now();
    form(in, last, pool);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(n_tokens) / time.count());
  }
  return best;
}

/// Root mean square of the difference, in parts of what is expected; `got` are memories in chunks if `memories`.
double difference(const Floats& got, const Floats& expected, bool memories) {
  double squares = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t at = i % (d * d);
    const std::size_t other = memories ? i - at + lazymoe::models::DeltaChunk::index(at % d, at / d, d) : i;
    const double error = static_cast<double>(got[other]) - static_cast<double>(expected[i]);
    squares += error * error;
    all += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::sqrt(squares / all);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 5;
  const Inputs in;
  Run steps;
  Run chunks;
  std::cout << std::setprecision(4);
  for (const unsigned threads : {1U, 2U}) {
    lazymoe::parallel::ThreadPool pool(threads);
    const double step = speed(run_steps, in, steps, pool, repetitions);
    const double chunked = speed(run_chunks, in, chunks, pool, repetitions);
    std::cout << threads << (threads == 1 ? " thread:  " : " threads: ") << step << " tokens/s in steps, " << chunked
              << " in chunks, ratio " << chunked / step << '\n';
  }
  std::cout << "relative rms difference: outputs " << difference(chunks.out, steps.out, false) << ", state "
            << difference(chunks.state, steps.state, true) << '\n';
  return 0;
}
