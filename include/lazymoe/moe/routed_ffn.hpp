#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../parallel/thread_pool.hpp"
#include "../quant/packed_matrix.hpp"
#include "../simd/vector.hpp"
#include "../store/source.hpp"
#include "../store/view.hpp"
#include "../tensor/activations.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"
#include "activation.hpp"
#include "router.hpp"
#include "router_weights.hpp"
#include "routes.hpp"

namespace lazymoe::moe {

/// What the experts of one layer add to their products, in the families that have it. Small, so always in memory.
struct ExpertBiases {
  std::vector<float> gate;  ///< [n_experts, n_ff]
  std::vector<float> up;    ///< [n_experts, n_ff]
  std::vector<float> down;  ///< [n_experts, n_embd]
};

/// What distinguishes the experts of a family beside their weights.
struct ExpertKind {
  Activation activation = Activation::swiglu;
  const ExpertBiases* biases = nullptr;  ///< of the layer; null: none
};

/// The mixture-of-experts feed-forward of a batch: routes every token first, borrows the union of the chosen experts,
/// each once, computes expert by expert as they arrive, and adds the outputs of a token in its router's order. So the
/// order in which experts arrive changes no bit.
///
/// @memory scratch for batches up to the largest seen: tokens * k * (2 n_ff + n_embd) floats and some; shared by all
///         layers of a sequence
/// @thread not to be shared; the arithmetic is split over the pool
class RoutedFfn {
 public:
  /// out[t] = sum_j w_j * down_e(silu(gate_e x[t]) * up_e x[t]),  e = the j-th expert of token t; with other activations
  /// and biases as `kind` says.
  ///
  /// @param  meanwhile is called once, when the reads of what is missing have begun: for work that needs no experts
  /// @shape  x[tokens, n_embd] -> out[tokens, n_embd]
  /// @throws Error{io} if an expert cannot be read; nothing stays pinned
  template <Router R, std::invocable Meanwhile>
  void run(LayerIndex layer, const R& router, std::size_t k, const RouterWeights& weights, const ExpertKind& kind,
           const tensor::ConstRows& x, std::size_t first_position, store::ExpertSource& source,
           parallel::ThreadPool& pool, Meanwhile&& meanwhile, tensor::Rows out) {
    inputs_.assign(x);
    kind_ = kind;
    route(layer, router, k, weights, first_position, source, pool);

    const std::size_t n_places = routes_.n_tokens() * k;
    rows_.resize(n_places);
    reserve(outputs_, n_places, tensor::width(x));
    n_done_ = 0;
    order_residents_first(layer, source);
    const store::Use use = routes_.n_tokens() == 1 ? store::Use::step : store::Use::prompt;
    for (auto left = std::span<const ExpertIndex>(order_); !left.empty();) {
      const store::Leases leases = source.acquire(layer, left, use);
      if (left.size() == order_.size()) meanwhile();
      run_group(left.first(leases.size()), leases, pool);
      left = left.subspan(leases.size());
    }
    add_in_router_order(tensor::width(x), pool, out);
  }

 private:
  /// An expert whose gate and up, or all of it, have arrived, and where its tokens' rows begin among the outputs.
  struct Arrived {
    std::size_t lease = 0;
    ExpertIndex expert = 0;
    store::ExpertView view;
    std::size_t first_row = 0;
  };

  template <Router R>
  void route(LayerIndex layer, const R& router, std::size_t k, const RouterWeights& weights,
             std::size_t first_position, store::ExpertSource& source, parallel::ThreadPool& pool) {
    const std::size_t n_tokens = inputs_.tokens();
    reserve(logits_, n_tokens, weights.gate_inp.rows);
    tensor::Rows logits = tensor::first_rows(logits_, n_tokens);
    multiply_router(weights, inputs_, logits, pool);
    routes_.reset(n_tokens, k);
    for (std::size_t t = 0; t < n_tokens; ++t) {
      router.route(tensor::row(logits, t), weights.selection_bias, routes_.experts(t), routes_.weights(t));
      source.on_route({.layer = layer,
                       .position = first_position + t,
                       .experts = std::as_const(routes_).experts(t),
                       .weights = std::as_const(routes_).weights(t)});
    }
    routes_.group(weights.gate_inp.rows);
  }

  /// Residents go first: a later group may evict them.
  void order_residents_first(LayerIndex layer, const store::ExpertSource& source) {
    order_.clear();
    missing_.clear();
    for (const ExpertIndex e : routes_.chosen()) (source.resident(layer, e) ? order_ : missing_).push_back(e);
    order_.insert(order_.end(), missing_.begin(), missing_.end());
  }

  /// Computes in waves: gate and up of all experts that have them now, down of all that have it and went through the
  /// first; then whatever came meanwhile.
  void run_group(std::span<const ExpertIndex> group, const store::Leases& leases, parallel::ThreadPool& pool) {
    first_row_ = n_done_;
    waiting_.clear();
    halves_.clear();
    std::size_t n_rows = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      Arrived& a = waiting_.emplace_back();
      a.lease = i;
      a.expert = group[i];
      n_rows += routes_.tokens(group[i]).size();
    }
    for (std::size_t i = own_rows_.size(); i < n_rows; ++i) own_rows_.push_back(static_cast<std::uint32_t>(i));
    while (!waiting_.empty() || !halves_.empty()) {
      const std::uint64_t seen = leases.arrivals();
      const bool first = take_ready(waiting_, store::Extent::gate_up, leases);
      if (first) {
        if (n_done_ == first_row_) reserve_hidden(n_rows, wave_.front().view.gate.rows);
        run_gate_and_up(pool);
        halves_.insert(halves_.end(), wave_.begin(), wave_.end());
      }
      const bool second = take_ready(halves_, store::Extent::whole, leases);
      if (second) run_down(pool);
      if (!first && !second) leases.wait_arrival(seen);
    }
  }

  /// Moves those that have arrived so far into the wave; false if there are none.
  bool take_ready(std::vector<Arrived>& from, store::Extent extent, const store::Leases& leases) {
    wave_.clear();
    std::erase_if(from, [&](Arrived& a) {
      if (!leases.ready(a.lease, extent)) return false;
      a.view = leases.wait(a.lease, extent);
      wave_.push_back(a);
      return true;
    });
    return !wave_.empty();
  }

  void reserve_hidden(std::size_t n_rows, std::size_t n_ff) {
    reserve(gates_, n_rows, n_ff);
    reserve(ups_, n_rows, n_ff);
    hidden_.assign(rows_of(gates_, 0, 0, n_ff));
  }

  void run_gate_and_up(parallel::ThreadPool& pool) {
    for (Arrived& a : wave_) {
      a.first_row = n_done_;
      for (const std::uint32_t place : routes_.places(a.expert)) rows_[place] = static_cast<std::uint32_t>(n_done_++);
    }
    const quant::PackedMatrix& like = wave_.front().view.gate;
    const std::size_t n_ff = like.rows;
    inputs_.prepare(tensor::activation_kind(like.type), pool);
    inputs_.prepare(tensor::activation_kind(wave_.front().view.up.type), pool);
    for_rows_of_wave(n_ff, like, pool, [&](const Arrived& a, std::size_t begin, std::size_t end) {
      const auto tokens = routes_.tokens(a.expert);
      tensor::Rows gate = rows_of(gates_, a.first_row - first_row_, tokens.size(), n_ff);
      tensor::Rows up = rows_of(ups_, a.first_row - first_row_, tokens.size(), n_ff);
      tensor::multiply_rows(a.view.gate, inputs_, tokens, begin, end, gate);
      tensor::multiply_rows(a.view.up, inputs_, tokens, begin, end, up);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        activate(a.expert, n_ff, begin, end, tensor::row(gate, i).data(), tensor::row(up, i).data());
      }
    });
    hidden_.extend(n_done_ - first_row_);
  }

  void run_down(parallel::ThreadPool& pool) {
    const quant::PackedMatrix& like = wave_.front().view.down;
    hidden_.prepare(tensor::activation_kind(like.type), pool);
    for_rows_of_wave(like.rows, like, pool, [&](const Arrived& a, std::size_t begin, std::size_t end) {
      const std::size_t n = routes_.tokens(a.expert).size();
      tensor::Rows y = rows_of(outputs_, a.first_row, n, a.view.down.rows);
      const auto rows = std::span<const std::uint32_t>(own_rows_).subspan(a.first_row - first_row_, n);
      tensor::multiply_rows(a.view.down, hidden_, rows, begin, end, y);
      if (kind_.biases == nullptr) return;
      for (std::size_t i = 0; i < n; ++i) {
        add_bias(kind_.biases->down, a.expert, a.view.down.rows, begin, end, tensor::row(y, i));
      }
    });
  }

  /// Elements [begin, end) of one token's hidden activations, into `gate`.
  void activate(ExpertIndex expert, std::size_t n_ff, std::size_t begin, std::size_t end, float* gate,
                float* up) const noexcept {
    if (kind_.biases != nullptr) {
      add_bias(kind_.biases->gate, expert, n_ff, begin, end, {gate, n_ff});
      add_bias(kind_.biases->up, expert, n_ff, begin, end, {up, n_ff});
    }
    moe::activate(kind_.activation, gate + begin, up + begin, gate + begin, end - begin);
  }

  static void add_bias(const std::vector<float>& biases, ExpertIndex expert, std::size_t width, std::size_t begin,
                       std::size_t end, std::span<float> y) noexcept {
    simd::add(biases.data() + expert * width + begin, y.data() + begin, end - begin);
  }

  /// Calls fn(expert, begin, end) for pieces of the `n` matrix rows of every expert of the wave, over the pool.
  template <class Fn>
  void for_rows_of_wave(std::size_t n, const quant::PackedMatrix& like, parallel::ThreadPool& pool, Fn&& fn) {
    pool.parallel_for(wave_.size() * n, tensor::row_grain(like), [&](std::size_t begin, std::size_t end) {
      while (begin < end) {
        const std::size_t expert = begin / n;
        const std::size_t stop = std::min(end, (expert + 1) * n);
        fn(wave_[expert], begin - expert * n, stop - expert * n);
        begin = stop;
      }
    });
  }

  void add_in_router_order(std::size_t n_embd, parallel::ThreadPool& pool, tensor::Rows& out) {
    pool.parallel_for(routes_.n_tokens(), 1 + 4096 / n_embd, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const auto weights = std::as_const(routes_).weights(t);
        const auto output = [&](std::size_t j) { return tensor::row(outputs_, rows_[t * weights.size() + j]).data(); };
        // The products are rounded before they are added, as the reference does it.
        for (std::size_t j = 0; j < weights.size(); ++j) simd::scale(weights[j], output(j), output(j), n_embd);
        float* y = tensor::row(out, t).data();
        std::copy_n(output(0), n_embd, y);
        for (std::size_t j = 1; j < weights.size(); ++j) simd::add(output(j), y, n_embd);
      }
    });
  }

  static void reserve(tensor::Matrix& m, std::size_t rows, std::size_t cols) {
    if (static_cast<std::size_t>(m.rows()) < rows || static_cast<std::size_t>(m.cols()) != cols) {
      m.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
    }
  }

  static tensor::Rows rows_of(tensor::Matrix& m, std::size_t first, std::size_t n, std::size_t cols) {
    return m.block(static_cast<Eigen::Index>(first), 0, static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(cols));
  }

  ExpertKind kind_;
  Routes routes_;
  tensor::Activations inputs_;
  tensor::Activations hidden_;
  tensor::Matrix logits_;               // [tokens, n_experts]
  tensor::Matrix gates_;                // [rows of the group, n_ff], then the hidden activations
  tensor::Matrix ups_;                  // [rows of the group, n_ff]
  tensor::Matrix outputs_;              // [tokens * k, n_embd], in order of arrival
  std::vector<std::uint32_t> rows_;     // [tokens * k]: place -> row of outputs_
  std::vector<std::uint32_t> own_rows_; // 0, 1, 2, ...
  std::vector<ExpertIndex> order_;
  std::vector<ExpertIndex> missing_;
  std::vector<Arrived> waiting_;        // for gate and up
  std::vector<Arrived> halves_;         // for down
  std::vector<Arrived> wave_;
  std::size_t first_row_ = 0;  // of the group
  std::size_t n_done_ = 0;
};

}  // namespace lazymoe::moe
