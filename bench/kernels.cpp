// GB/s of packed bytes for one format: `bench_kernels Q4_K --cols 2048 --rows 768 --threads 1 --reps 20` prints a line of
// JSON with the best of the repeats for
//   decode   rows to floats
//   dot      one row, one activation, at a time
//   panel    all rows, one activation
//   tile     all rows, 32 activations; packed bytes count once for each activation
//   sum      a plain sum over the bytes: what the memory or cache gives
// Rows are split evenly over the threads. scripts/bench_kernels.py runs it beside the reference's own kernels.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <lazymoe/quant/activation.hpp>
#include <lazymoe/quant/decode.hpp>
#include <lazymoe/quant/dot.hpp>
#include <lazymoe/quant/registry.hpp>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace lazymoe;
using namespace lazymoe::quant;

namespace {

struct Options {
  std::size_t cols = 2048;
  std::size_t rows = 768;
  std::size_t threads = 1;
  std::size_t reps = 20;
};

/// Piece [first, last) of the rows, for one thread.
using Work = std::function<void(std::size_t first, std::size_t last)>;

/// Seconds of the fastest of the repeats, each long enough for the clock.
double fastest(const Options& options, std::size_t loops, const Work& work) {
  double best = 1e30;
  for (std::size_t rep = 0; rep < options.reps; ++rep) {
    const auto start = std::chrono::steady_clock::now();
    const auto run = [&](std::size_t k) {
      const std::size_t first = options.rows * k / options.threads;
      const std::size_t last = options.rows * (k + 1) / options.threads;
      for (std::size_t l = 0; l < loops; ++l) work(first, last);
    };
    std::vector<std::thread> others;
    for (std::size_t k = 1; k < options.threads; ++k) others.emplace_back(run, k);
    run(0);
    for (auto& t : others) t.join();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count() / static_cast<double>(loops));
  }
  return best;
}

template <BlockFormat F>
void measure(const Options& options) {
  const std::size_t blocks = options.cols / F::block_elems;
  const std::size_t packed = options.rows * blocks * sizeof(typename F::Block);
  std::minstd_rand random(1);
  std::normal_distribution<float> gauss;

  // Random codes; six bits a byte keep the scales finite in every format.
  std::vector<typename F::Block> w(options.rows * blocks);
  auto* bytes = reinterpret_cast<std::uint8_t*>(w.data());
  for (std::size_t i = 0; i < packed; ++i) bytes[i] = static_cast<std::uint8_t>(random() >> 8 & 0x3B);
  if constexpr (requires { w[0].e.bits; }) {  // a power of two, of which the least make subnormal numbers
    for (auto& block : w) block.e.bits = static_cast<std::uint8_t>(116 + (random() >> 8) % 8);
  }
  std::vector<std::vector<ActivationBlock<F>>> activations(32);
  std::vector<const ActivationBlock<F>*> x;
  for (auto& y : activations) {
    std::vector<float> values(options.cols);
    for (auto& v : values) v = gauss(random);
    y.resize(options.cols / ActivationOf<F>::block_elems);
    quantize<F::activation>(values, y);
    x.push_back(y.data());
  }
  std::vector<float> out(options.rows * x.size());
  std::vector<std::uint64_t> sums(options.rows);
  const auto panel = [&](std::span<const ActivationBlock<F>* const> some) {
    return [&, some](std::size_t first, std::size_t last) {
      // As matrix products do: as many rows at a time as stay in the second-level cache.
      const std::size_t step = 1 + (std::size_t{64} << 10) / (blocks * sizeof(typename F::Block));
      for (std::size_t r = first; r < last; r += step) {
        dot_panel<F>(w.data() + r * blocks, std::min(step, last - r), blocks, some, out.data() + r, options.rows);
      }
    };
  };
  const auto row = [&](std::size_t r) { return std::span<const typename F::Block>(w.data() + r * blocks, blocks); };

  const std::size_t loops = 1 + 8'000'000 / packed;
  const auto rate = [&](std::size_t times, const Work& work) {
    return static_cast<double>(times * packed) / fastest(options, 1 + loops / times, work) / 1e9;
  };
  const double decode = rate(1, [&](std::size_t first, std::size_t last) {
    thread_local std::vector<float> floats;
    floats.resize(options.cols);
    for (std::size_t r = first; r < last; ++r) DecodeKernel<F, simd::DefaultArch>::run(row(r), floats.data());
  });
  const double dot1 = rate(1, [&](std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) out[r] = dot<F>(row(r), x[0]);
  });
  const double panel1 = rate(1, panel(std::span(x).first(1)));
  const double tile = packed > std::size_t{64} << 20 ? 0.0 : rate(32, panel(x));
  const double sum = rate(1, [&](std::size_t first, std::size_t last) {
    const std::size_t begin = first * blocks * sizeof(typename F::Block) / 8;
    const std::size_t end = last * blocks * sizeof(typename F::Block) / 8;
    std::uint64_t total = 0;
    std::uint64_t word = 0;
    for (std::size_t i = begin; i < end; ++i) {
      std::memcpy(&word, bytes + 8 * i, 8);
      total += word;
    }
    sums[first] = total;
  });
  std::printf("{\"type\":\"%s\",\"cols\":%zu,\"rows\":%zu,\"threads\":%zu,\"packed_bytes\":%zu,\"decode_gbs\":%.3f,"
              "\"dot_gbs\":%.3f,\"panel_gbs\":%.3f,\"tile_gbs\":%.3f,\"sum_gbs\":%.3f,\"check\":%g}\n",
              std::string(F::name).c_str(), options.cols, options.rows, options.threads, packed, decode, dot1, panel1,
              tile, sum, static_cast<double>(out[0]) + static_cast<double>(sums[0] % 2));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("bench_kernels TYPE [--cols N] [--rows N] [--threads N] [--reps N]\n", stderr);
    return 2;
  }
  Options options;
  const std::map<std::string_view, std::size_t*> known{{"--cols", &options.cols},
                                                       {"--rows", &options.rows},
                                                       {"--threads", &options.threads},
                                                       {"--reps", &options.reps}};
  for (int i = 2; i + 1 < argc; i += 2) {
    const auto it = known.find(argv[i]);
    if (it == known.end()) {
      std::fprintf(stderr, "unknown option: %s\n", argv[i]);
      return 2;
    }
    *it->second = std::max(1UL, std::strtoul(argv[i + 1], nullptr, 10));
  }
  bool found = false;
  boost::hana::for_each(formats, [&](auto format) {
    using F = typename decltype(format)::type;
    if (argv[1] != F::name) return;
    found = true;
    measure<F>(options);
  });
  if (!found) std::fprintf(stderr, "no such format: %s\n", argv[1]);
  return found ? 0 : 2;
}
