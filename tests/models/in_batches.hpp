#pragma once

#include <algorithm>
#include <cstddef>

#include <lazymoe/models/config.hpp>
#include <lazymoe/models/sequence.hpp>
#include <lazymoe/parallel/thread_pool.hpp>
#include <lazymoe/tensor/aliases.hpp>
#include <lazymoe/tensor/rope.hpp>

namespace lazymoe::test {

/// What a mixer makes of x[tokens, n_embd] in batches of `n_batch` tokens, from an empty state on.
template <class Mixer>
[[nodiscard]] tensor::Matrix run_in_batches(const Mixer& mixer, const models::Config& config, const tensor::Matrix& x,
                                            std::size_t n_batch, models::SequenceOptions options,
                                            unsigned threads = 1) {
  const auto n = static_cast<std::size_t>(x.rows());
  options.n_ctx = n;
  typename Mixer::State state = Mixer::new_state(config, options);
  const tensor::Rope rope(config.rope);
  typename Mixer::Scratch scratch;
  parallel::ThreadPool pool(threads);
  tensor::Matrix out(x.rows(), x.cols());
  for (std::size_t first = 0; first < n; first += n_batch) {
    const auto from = static_cast<Eigen::Index>(first);
    const auto rows = static_cast<Eigen::Index>(std::min(n_batch, n - first));
    mixer.run(config, rope, x.middleRows(from, rows), state, scratch, pool, out.middleRows(from, rows));
    state.advance(static_cast<std::size_t>(rows));
  }
  return out;
}

}  // namespace lazymoe::test
