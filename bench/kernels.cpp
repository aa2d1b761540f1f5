// GB/s of packed bytes for one format: `bench_kernels Q4_K --cols 2048 --rows 768 --threads 1 --reps 20` prints a line
// of JSON with the best of the repeats for
//   decode   rows to floats
//   dot      one row, one activation, at a time
//   panel    all rows, one activation
//   tile     all rows, 32 activations; packed bytes count once for each activation
//   sum      a plain sum over the bytes: what the memory or cache gives
// and the median over the repeats of panel / sum. The five run in turns, so that all meet the same machine. Rows are
// split evenly over the threads. scripts/bench_kernels.py runs it beside the reference's own kernels.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <lazymoe/core/buffer.hpp>
#include <lazymoe/quant/activation.hpp>
#include <lazymoe/quant/decode.hpp>
#include <lazymoe/quant/dot.hpp>
#include <lazymoe/quant/encode/simple.hpp>
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

struct Measured {
  Work work;
  std::size_t loops = 1;  ///< repeats long enough for the clock; 0 skips the measurement
  std::vector<double> seconds{};

  [[nodiscard]] double fastest() const { return *std::ranges::min_element(seconds); }
};

/// Seconds of `loops` runs over all rows, for one run.
double time_once(const Options& options, std::size_t loops, const Work& work) {
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
  return seconds.count() / static_cast<double>(loops);
}

template <BlockFormat F>
void measure(const Options& options) {
  const std::size_t blocks = options.cols / F::block_elems;
  const std::size_t packed = options.rows * blocks * sizeof(typename F::Block);
  std::minstd_rand random(1);
  std::normal_distribution<float> gauss;

  // Random codes; six bits a byte keep the scales finite in every format. Numbers that are not in blocks are decoded
  // ones: random bits would make subnormal numbers, which some processors multiply slowly.
  std::vector<typename F::Block> w(options.rows * blocks);
  auto* bytes = reinterpret_cast<std::uint8_t*>(w.data());
  if constexpr (F::block_elems == 1) {
    for (auto& number : w) number = Encoder<F>::run(std::array{gauss(random)});
  } else {
    for (std::size_t i = 0; i < packed; ++i) bytes[i] = static_cast<std::uint8_t>(random() >> 8 & 0x3B);
  }
  if constexpr (requires { w[0].e.bits; }) {  // a power of two, of which the least make subnormal numbers
    for (auto& block : w) block.e.bits = static_cast<std::uint8_t>(116 + (random() >> 8) % 8);
  }
  // Placed as tensor::Activations does it.
  const std::size_t x_blocks = options.cols / ActivationOf<F>::block_elems;
  const std::size_t x_bytes = align_up(x_blocks * sizeof(ActivationBlock<F>), std::size_t{64}) | 64;
  AlignedBuffer activations(32 * x_bytes);
  std::vector<const ActivationBlock<F>*> x;
  for (std::size_t t = 0; t < 32; ++t) {
    std::vector<float> values(options.cols);
    for (auto& v : values) v = gauss(random);
    auto* y = reinterpret_cast<ActivationBlock<F>*>(activations.data() + t * x_bytes);
    quantize<F::activation>(values, std::span(y, x_blocks));
    x.push_back(y);
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
  Measured decode{[&](std::size_t first, std::size_t last) {
                    thread_local std::vector<float> floats;
                    floats.resize(options.cols);
                    for (std::size_t r = first; r < last; ++r) {
                      DecodeKernel<F, simd::DefaultArch>::run(row(r), floats.data());
                    }
                  },
                  loops};
  Measured dot1{[&](std::size_t first, std::size_t last) {
                  for (std::size_t r = first; r < last; ++r) out[r] = dot<F>(row(r), x[0]);
                },
                loops};
  Measured panel1{panel(std::span(x).first(1)), loops};
  Measured tile{panel(x), packed > std::size_t{64} << 20 ? 0 : 1 + loops / x.size()};
  Measured sum{[&](std::size_t first, std::size_t last) {
                 const std::size_t begin = first * blocks * sizeof(typename F::Block) / 8;
                 const std::size_t end = last * blocks * sizeof(typename F::Block) / 8;
                 std::uint64_t total = 0;
                 std::uint64_t word = 0;
                 for (std::size_t i = begin; i < end; ++i) {
                   std::memcpy(&word, bytes + 8 * i, 8);
                   total += word;
                 }
                 sums[first] = total;
               },
               loops};
  for (std::size_t rep = 0; rep < options.reps; ++rep) {
    for (auto* m : {&decode, &dot1, &tile, &panel1, &sum}) {
      if (m->loops != 0) m->seconds.push_back(time_once(options, m->loops, m->work));
    }
  }
  std::vector<double> ratios;
  for (std::size_t rep = 0; rep < options.reps; ++rep) ratios.push_back(sum.seconds[rep] / panel1.seconds[rep]);
  std::ranges::sort(ratios);
  const auto rate = [packed](const Measured& m, std::size_t times = 1) {
    return m.loops == 0 ? 0.0 : static_cast<double>(times * packed) / m.fastest() / 1e9;
  };
  std::printf(
      "{\"type\":\"%s\",\"cols\":%zu,\"rows\":%zu,\"threads\":%zu,\"packed_bytes\":%zu,\"decode_gbs\":%.3f,"
      "\"dot_gbs\":%.3f,\"panel_gbs\":%.3f,\"tile_gbs\":%.3f,\"sum_gbs\":%.3f,\"panel_of_sum\":%.3f,"
      "\"check\":%g}\n",
      std::string(F::name).c_str(), options.cols, options.rows, options.threads, packed, rate(decode), rate(dot1),
      rate(panel1), rate(tile, x.size()), rate(sum), ratios[ratios.size() / 2],
      static_cast<double>(out[0]) + static_cast<double>(sums[0] % 2));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("bench_kernels TYPE [--cols N] [--rows N] [--threads N] [--reps N]\n", stderr);
    return 2;
  }
  Options options;
  const std::map<std::string_view, std::size_t*> known{
      {"--cols", &options.cols}, {"--rows", &options.rows}, {"--threads", &options.threads}, {"--reps", &options.reps}};
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
