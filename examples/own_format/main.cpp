// A block format of your own, without a change to the library: experts packed as Q3 lie in a plain file, a store keeps
// two of eight in memory, and a feed-forward is computed from what it lends.
//
// What this does not reach: the GGUF reader and the models know the formats of the library's registry only, so a file of
// your format is described by hand, as below. dot() runs the scalar reference until you specialise
// lazymoe::quant::BlockDot<Q3, Arch> (see lazymoe/quant/kernels/tile.hpp).
#include "q3.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <vector>

namespace {

namespace quant = lazymoe::quant;
namespace experts = lazymoe::experts;

constexpr std::size_t n_embd = 256;
constexpr std::size_t n_ff = 128;
constexpr std::uint32_t n_experts = 8;
constexpr std::size_t matrix_bytes = n_ff * quant::row_bytes<Q3>(n_embd);
static_assert(matrix_bytes == n_embd * quant::row_bytes<Q3>(n_ff));

/// y = W x for a matrix of any format in my_formats.
std::vector<float> multiply(const quant::PackedMatrix& w, const std::vector<float>& x) {
  std::vector<float> y(w.rows);
  quant::visit_format<my_formats>(w.type, [&](auto format) {
    using F = typename decltype(format)::type;
    std::vector<quant::ActivationBlock<F>> rounded(x.size() / quant::ActivationOf<F>::block_elems);
    quant::quantize<F::activation>(x, rounded);
    for (std::size_t r = 0; r < w.rows; ++r) y[r] = quant::dot<F>(w.blocks<F>(r), rounded.data());
  });
  return y;
}

std::vector<float> feed_forward(const lazymoe::store::ExpertView& expert, const std::vector<float>& x) {
  const auto gate = multiply(expert.gate, x);
  auto hidden = multiply(expert.up, x);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= gate[i] / (1.0F + std::exp(-gate[i]));
  return multiply(expert.down, hidden);
}

/// All gates, all ups, all downs, packed as one long row: matrices are whole blocks.
std::vector<std::byte> random_experts() {
  std::mt19937 random(1);
  std::normal_distribution<float> gauss(0.0F, 0.1F);
  std::vector<float> w(3 * n_experts * n_ff * n_embd);
  for (float& v : w) v = gauss(random);
  std::vector<std::byte> packed(quant::row_bytes<Q3>(w.size()));
  quant::encode_row<Q3>(w, packed);
  return packed;
}

/// Where matrix number `part` of all experts lies: three tensors, one after the other.
experts::ExpertMatrix described(std::size_t part, std::size_t rows, std::size_t cols) {
  return {.type = Q3::id,
          .tensor = {.offset = part * n_experts * matrix_bytes,
                     .cols = cols,
                     .rows = rows,
                     .experts = n_experts,
                     .block_elems = Q3::block_elems,
                     .block_bytes = quant::block_bytes<Q3>},
          .rows = rows};
}

/// The same expert straight from the bytes.
lazymoe::store::ExpertView view_of(std::span<const std::byte> file, std::uint32_t expert) {
  const auto part = [&](std::size_t i, std::size_t rows, std::size_t cols) {
    return quant::PackedMatrix{Q3::id, rows, cols, file.subspan((i * n_experts + expert) * matrix_bytes, matrix_bytes)};
  };
  return {part(0, n_ff, n_embd), part(1, n_ff, n_embd), part(2, n_embd, n_ff)};
}

}  // namespace

int main() try {
  const auto folder = std::filesystem::temp_directory_path() / ("own_format." + std::to_string(std::random_device{}()));
  std::filesystem::create_directory(folder);
  const std::vector<std::filesystem::path> paths{folder / "experts.q3"};
  const auto packed = random_experts();
  std::ofstream(paths[0], std::ios::binary)
      .write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(packed.size()));

  experts::ExpertMap map({experts::LayerExperts{described(0, n_ff, n_embd), described(1, n_ff, n_embd),
                                                described(2, n_embd, n_ff)}},
                         n_experts, 2);
  using Policies = lazymoe::store::DefaultPolicies;
  lazymoe::store::ExpertStore<Policies> store(std::move(map), Policies::Storage(paths),
                                              {.budget = lazymoe::store::ExpertBudget::experts(2)});

  std::vector<float> x(n_embd);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  bool equal = true;
  for (std::uint32_t first = 0; first + 1 < n_experts; ++first) {
    const std::vector<std::uint32_t> chosen{first, first + 1};
    const auto leases = store.acquire(0, chosen);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      equal = equal && feed_forward(leases.wait(i), x) == feed_forward(view_of(packed, chosen[i]), x);
    }
  }
  const auto counted = store.counters().total;
  std::filesystem::remove_all(folder);
  std::cout << Q3::name << ": " << counted.hits << " hits, " << counted.misses << " misses, results "
            << (equal ? "equal" : "differ") << '\n';
  return equal ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
