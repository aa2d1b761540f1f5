#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../gguf/file.hpp"
#include "../quant/registry.hpp"
#include "slice.hpp"
#include "slice_math.hpp"

namespace lazymoe::experts {

/// One matrix of every expert of a layer: where it lies and how it is packed.
struct ExpertMatrix {
  quant::TypeId type = quant::TypeId::f32;
  ExpertTensor tensor;
  std::uint64_t first_row = 0;  ///< not 0 for the up half of a fused tensor
  std::uint64_t rows = 0;

  [[nodiscard]] std::uint64_t cols() const noexcept { return tensor.cols; }
  [[nodiscard]] SliceRef slice(ExpertIndex expert) const noexcept {
    return *row_slice(tensor, expert, first_row, rows);
  }
  [[nodiscard]] Bytes bytes() const noexcept { return slice(0).bytes; }
};

/// The experts of one layer: equal in shape and size.
///
/// @shape gate[n_ff, n_embd], up[n_ff, n_embd], down[n_embd, n_ff]
struct LayerExperts {
  ExpertMatrix gate;
  ExpertMatrix up;
  ExpertMatrix down;

  /// Of one expert.
  [[nodiscard]] Bytes bytes() const noexcept { return gate.bytes() + up.bytes() + down.bytes(); }
};

/// Where the three matrices of one expert are.
struct ExpertSlices {
  SliceRef gate;
  SliceRef up;
  SliceRef down;
};

/// From (layer, expert) to exact byte ranges: for separate and fused gate and up, for layers of different types and
/// for split files. Knows addresses only; reads nothing.
class ExpertMap {
 public:
  /// @throws Error{unsupported_model} if the file has no experts; Error{bad_tensor} naming every tensor that is missing
  ///         or misshapen
  explicit ExpertMap(const gguf::File& file) {
    const auto& metadata = file.metadata();
    const std::string arch(metadata.require<std::string_view>("general.architecture"));
    const auto n_blocks = metadata.require<std::uint32_t>(arch + ".block_count");
    const auto n_predict = metadata.find<std::uint32_t>(arch + ".nextn_predict_layers").value_or(0);
    const auto n_experts = metadata.find<std::uint32_t>(arch + ".expert_count").value_or(0);
    n_used_ = metadata.find<std::uint32_t>(arch + ".expert_used_count").value_or(0);
    if (n_experts == 0 || n_used_ == 0) {
      throw Error(Errc::unsupported_model, file.name() + ": the model has no routed experts (" + arch +
                                               ".expert_count or .expert_used_count is missing or 0)");
    }
    if (n_used_ > n_experts || n_predict >= n_blocks || n_blocks > 4096 || n_experts > 65536) {
      throw Error(Errc::bad_metadata, file.name() + ": block or expert counts are out of range: " +
                                          std::to_string(n_blocks) + " blocks, " + std::to_string(n_experts) +
                                          " experts, " + std::to_string(n_used_) + " used");
    }
    space_ = {.layers = n_blocks - n_predict, .experts = n_experts};
    for (const auto& path : file.paths()) file_names_.push_back(path.string());
    std::string problems;
    for (LayerIndex layer = 0; layer < space_.layers; ++layer) layers_.push_back(find_layer(file, layer, problems));
    if (!problems.empty()) throw Error(Errc::bad_tensor, file.name() + ": " + problems);
    if (std::none_of(layers_.begin(), layers_.end(), [](const auto& l) { return l.has_value(); })) {
      throw Error(Errc::unsupported_model, file.name() + ": no layer has expert tensors");
    }
  }

  /// From descriptions of your own: for experts that are not in a GGUF file, or in a format this library does not know.
  /// @pre every matrix of `layers` lies within its file and has one of each of `n_experts`; nullopt: a dense layer
  ExpertMap(std::vector<std::optional<LayerExperts>> layers, std::uint32_t n_experts, std::uint32_t n_used)
      : space_{.layers = static_cast<std::uint32_t>(layers.size()), .experts = n_experts},
        n_used_(n_used),
        layers_(std::move(layers)) {}

  [[nodiscard]] KeySpace space() const noexcept { return space_; }

  /// Experts that the router chooses per token and layer.
  [[nodiscard]] std::uint32_t n_used() const noexcept { return n_used_; }

  /// Name of a file of the model, for messages.
  [[nodiscard]] std::string file_name(std::uint32_t shard) const {
    return shard < file_names_.size() ? file_names_[shard] : "file " + std::to_string(shard) + " of the model";
  }

  /// False for the dense layers that some models begin with.
  [[nodiscard]] bool has_experts(LayerIndex layer) const noexcept { return layers_[layer].has_value(); }

  /// @pre has_experts(layer)
  [[nodiscard]] const LayerExperts& layer(LayerIndex layer) const noexcept {
    LAZYMOE_EXPECTS(has_experts(layer));
    return *layers_[layer];
  }

  /// @pre has_experts(layer), expert < space().experts
  [[nodiscard]] ExpertSlices slices(LayerIndex layer_index, ExpertIndex expert) const noexcept {
    const LayerExperts& l = layer(layer_index);
    return {l.gate.slice(expert), l.up.slice(expert), l.down.slice(expert)};
  }

  /// All experts of all layers.
  [[nodiscard]] Bytes total_bytes() const noexcept {
    Bytes total = 0;
    for (const auto& l : layers_) total += l ? l->bytes() * space_.experts : 0;
    return total;
  }

 private:
  [[nodiscard]] std::optional<LayerExperts> find_layer(const gguf::File& file, LayerIndex layer,
                                                       std::string& problems) const {
    const std::string prefix = "blk." + std::to_string(layer) + ".ffn_";
    const auto find = [&](std::string_view part) { return file.find(prefix + std::string(part) + "_exps.weight"); };
    const gguf::TensorInfo* fused = find("gate_up");
    const gguf::TensorInfo* gate = fused != nullptr ? fused : find("gate");
    const gguf::TensorInfo* up = fused != nullptr ? fused : find("up");
    const gguf::TensorInfo* down = find("down");
    if (gate == nullptr && up == nullptr && down == nullptr) return std::nullopt;  // a dense layer

    const std::size_t before = problems.size();
    const auto complain = [&](const std::string& what) { problems += (problems.empty() ? "" : "; ") + what; };
    for (const auto& [name, tensor] : {std::pair{"gate", gate}, {"up", up}, {"down", down}}) {
      if (tensor == nullptr) complain("tensor " + prefix + name + "_exps.weight is missing");
    }
    if (problems.size() != before) return std::nullopt;

    for (const gguf::TensorInfo* tensor : {gate, up, down}) {
      if (tensor->slices() != space_.experts || tensor->n_dims != 3) {
        complain("tensor " + tensor->name + " has shape " + tensor->shape_text() + ", not one matrix for each of " +
                 std::to_string(space_.experts) + " experts");
      }
    }
    const std::uint64_t n_ff = down->cols();
    const std::uint64_t halves = fused != nullptr ? 2 : 1;
    for (const gguf::TensorInfo* tensor : {gate, up}) {
      if (tensor->rows() != halves * n_ff || tensor->cols() != down->rows()) {
        complain("tensor " + tensor->name + " of shape " + tensor->shape_text() + " does not fit " + down->name +
                 " of shape " + down->shape_text());
      }
      if (fused != nullptr) break;
    }
    if (problems.size() != before) return std::nullopt;

    return LayerExperts{.gate = matrix(*gate, 0, n_ff),
                        .up = matrix(*up, fused != nullptr ? n_ff : 0, n_ff),
                        .down = matrix(*down, 0, down->rows())};
  }

  [[nodiscard]] static ExpertMatrix matrix(const gguf::TensorInfo& info, std::uint64_t first_row, std::uint64_t rows) {
    const quant::Layout& layout = quant::layouts.at(static_cast<std::size_t>(info.type));
    return {.type = info.type,
            .tensor = {.shard = info.shard,
                       .offset = info.offset,
                       .cols = info.cols(),
                       .rows = info.rows(),
                       .experts = info.slices(),
                       .block_elems = layout.block_elems,
                       .block_bytes = layout.block_bytes},
            .first_row = first_row,
            .rows = rows};
  }

  KeySpace space_;
  std::uint32_t n_used_ = 0;
  std::vector<std::optional<LayerExperts>> layers_;  // by layer
  std::vector<std::string> file_names_;              // by shard
};

}  // namespace lazymoe::experts
