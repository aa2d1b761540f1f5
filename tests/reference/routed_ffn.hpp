#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <lazymoe/quant/packed_matrix.hpp>
#include <lazymoe/store/view.hpp>

#include "reference/dense.hpp"

namespace lazymoe::reference {

struct Choice {
  std::size_t expert = 0;
  double weight = 0.0;
};

/// Softmax over all logits, the k largest, divided by their sum if `renormalise`, times `scale`.
[[nodiscard]] inline std::vector<Choice> route(const Vector& logits, std::size_t k, bool renormalise, double scale) {
  const Vector scores = softmax(logits);
  std::vector<Choice> all;
  for (std::size_t e = 0; e < scores.size(); ++e) all.push_back({e, scores[e]});
  std::stable_sort(all.begin(), all.end(), [](const Choice& a, const Choice& b) { return a.weight > b.weight; });
  all.resize(k);
  double sum = 0.0;
  for (const Choice& c : all) sum += c.weight;
  for (Choice& c : all) c.weight *= scale / (renormalise ? std::fmax(sum, 0x1p-14) : 1.0);
  return all;
}

/// sum_j w_j * down_e(silu(gate_e x) * up_e x),  e = the j-th choice.
[[nodiscard]] inline Vector routed_ffn(std::span<const store::ExpertView> experts, const std::vector<Choice>& choices,
                                       const Vector& x) {
  Vector out(experts.front().down.rows, 0.0);
  for (const Choice& c : choices) {
    const store::ExpertView& expert = experts[c.expert];
    Vector hidden = multiply(expert.gate, x);
    const Vector up = multiply(expert.up, x);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= up[i] / (1.0 + std::exp(-hidden[i]));
    const Vector y = multiply(expert.down, hidden);
    for (std::size_t i = 0; i < y.size(); ++i) out[i] += c.weight * y[i];
  }
  return out;
}

}  // namespace lazymoe::reference
