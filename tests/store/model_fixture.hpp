#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <lazymoe/experts/expert_map.hpp>
#include <lazymoe/gguf/file.hpp>
#include <lazymoe/store/view.hpp>

#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::test {

/// A small model on disk and, read the plain way, what its experts are.
class ModelFixture {
 public:
  explicit ModelFixture(const TinyMoe& shape = {}) : ModelFixture(shape, shape.n_layers * 100) {}

  /// Split into shards of at most `max_tensors`.
  ModelFixture(const TinyMoe& shape, std::size_t max_tensors)
      : file(shape.writer().write_split(directory_.path() / "model", max_tensors).front()), map(file) {
    for (const auto& path : file.paths()) {
      std::ifstream in(path, std::ios::binary);
      contents_.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }

  [[nodiscard]] std::span<const std::byte> bytes(const experts::SliceRef& slice) const {
    return std::as_bytes(std::span(contents_[slice.shard]))
        .subspan(static_cast<std::size_t>(slice.offset), static_cast<std::size_t>(slice.bytes));
  }

  /// Whether `view` is that expert: its shapes, types and every byte.
  [[nodiscard]] bool is_expert(const store::ExpertView& view, LayerIndex layer, ExpertIndex expert) const {
    const experts::LayerExperts& l = map.layer(layer);
    const experts::ExpertSlices slices = map.slices(layer, expert);
    return is_matrix(view.gate, l.gate, slices.gate) && is_matrix(view.up, l.up, slices.up) &&
           is_matrix(view.down, l.down, slices.down);
  }

 private:
  TempDir directory_;

 public:
  gguf::File file;
  experts::ExpertMap map;

 private:
  [[nodiscard]] bool is_matrix(const quant::PackedMatrix& m, const experts::ExpertMatrix& expected,
                               const experts::SliceRef& slice) const {
    return m.type == expected.type && m.rows == expected.rows && m.cols == expected.cols() &&
           std::ranges::equal(m.bytes, bytes(slice));
  }

  std::vector<std::string> contents_;  // by shard
};

}  // namespace lazymoe::test
