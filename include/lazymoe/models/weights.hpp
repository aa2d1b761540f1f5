#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "../gguf/file.hpp"
#include "../parallel/io_queue.hpp"
#include "../quant/packed_matrix.hpp"
#include "../storage/any_storage.hpp"
#include "detail/weight_places.hpp"
#include "weight_storage.hpp"

namespace lazymoe::models {

/// What the names of a layer's tensors begin with.
[[nodiscard]] inline std::string block_prefix(LayerIndex layer) { return "blk." + std::to_string(layer) + "."; }

/// Whether a tensor is of a block past the last that runs: those belong to next-token prediction.
[[nodiscard]] inline bool in_skipped_block(std::string_view name, std::size_t n_layers) {
  if (!name.starts_with("blk.")) return false;
  std::size_t block = 0;
  std::size_t i = 4;
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && block < n_layers; ++i) {
    block = block * 10 + static_cast<std::size_t>(name[i] - '0');
  }
  return i > 4 && block >= n_layers;
}

/// Told how many bytes of how many have been read; one call at a time, from any thread.
using Progress = std::function<void(Bytes done, Bytes total)>;

/// Keeps the dense weights alive that matrices point into.
class ResidentWeights {
 public:
  /// Bytes of the dense tensors, as the file packs them.
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

 private:
  friend class WeightBinder;
  AlignedBuffer memory_;
  std::optional<storage::AnyStorage> views_;  // if matrices point into it
  Bytes bytes_ = 0;
};

/// Collects which tensors a model wants and where they shall go, so that everything that is wrong with a file is said
/// at once and every tensor is read once, tied embeddings included.
class WeightBinder {
 public:
  explicit WeightBinder(const gguf::File& file) : file_(file) {}

  /// @shape  W[rows, cols]; the destination must not move before load()
  /// @throws Error{unsupported_type} if the tensor holds numbers that nothing multiplies
  void matrix(quant::PackedMatrix& to, const std::string& name, std::size_t rows, std::size_t cols) {
    if (const gguf::TensorInfo* info = expect_weights(name, {cols, rows})) {
      to = {.type = info->type, .rows = rows, .cols = cols, .bytes = {}};
      wanted_[info].matrices.push_back({&to, 0});
    }
  }

  /// The rows from `first` on of a matrix of `all_rows`.
  /// @shape  W[rows, cols]; the destination must not move before load()
  /// @throws Error{unsupported_type} as matrix() does
  void matrix_part(quant::PackedMatrix& to, const std::string& name, std::size_t first, std::size_t rows,
                   std::size_t all_rows, std::size_t cols) {
    if (const gguf::TensorInfo* info = expect_weights(name, {cols, all_rows})) {
      to = {.type = info->type, .rows = rows, .cols = cols, .bytes = {}};
      wanted_[info].matrices.push_back({&to, first});
    }
  }

  /// One matrix a head, each below the other whether the file says {cols, rows, n_heads} or {cols, rows * n_heads}.
  /// @shape  W[n_heads * rows, cols]; the destination must not move before load()
  /// @throws Error{unsupported_type} as matrix() does
  void head_matrices(quant::PackedMatrix& to, const std::string& name, std::size_t n_heads, std::size_t rows,
                     std::size_t cols) {
    const gguf::TensorInfo* found = file_.find(name);
    const bool folded = found != nullptr && n_heads > 1 && found->dims[2] == 1;
    const gguf::TensorInfo* info = folded ? expect_weights(name, {cols, rows * n_heads})
                                          : expect_weights(name, {cols, rows, n_heads});
    if (info == nullptr) return;
    to = {.type = info->type, .rows = n_heads * rows, .cols = cols, .bytes = {}};
    wanted_[info].matrices.push_back({&to, 0});
  }

  [[nodiscard]] bool has(const std::string& name) const { return file_.find(name) != nullptr; }

  /// Lets a tensor be there that says again what others say.
  void ignore(const std::string& name) { known_.insert(name); }

  /// A vector, as float whatever the file has.
  void vector(std::vector<float>& to, const std::string& name, std::size_t n) {
    if (const gguf::TensorInfo* info = expect(name, {n})) wanted_[info].vectors.push_back({&to, 0, n});
  }

  /// The `n` numbers from `first` on of a vector of `all`.
  void vector_part(std::vector<float>& to, const std::string& name, std::size_t first, std::size_t n,
                   std::size_t all) {
    if (const gguf::TensorInfo* info = expect(name, {all})) wanted_[info].vectors.push_back({&to, first, n});
  }

  /// A vector whose numbers must all be negative; whether they are, load() sees.
  void negative_vector(std::vector<float>& to, const std::string& name, std::size_t n) {
    if (const gguf::TensorInfo* info = expect(name, {n})) {
      wanted_[info].vectors.push_back({&to, 0, n});
      wanted_[info].negative = true;
    }
  }

  /// A small matrix, as float whatever the file has.
  /// @shape W[rows, cols]
  void table(std::vector<float>& to, const std::string& name, std::size_t rows, std::size_t cols) {
    if (const gguf::TensorInfo* info = expect_weights(name, {cols, rows})) {
      wanted_[info].vectors.push_back({&to, 0, rows * cols});
    }
  }

  /// A small matrix as float, its columns made contiguous.
  /// @shape W[rows, cols] in the file -> to[cols, rows]
  void transposed(std::vector<float>& to, const std::string& name, std::size_t rows, std::size_t cols) {
    if (const gguf::TensorInfo* info = expect_weights(name, {cols, rows})) wanted_[info].transposed.push_back(&to);
  }

  /// The experts of one layer are the ExpertSource's to read; here only their shapes and types are checked.
  /// @throws Error{unsupported_type} as matrix() does
  void experts(const std::string& prefix, std::size_t n_experts, std::size_t n_ff, std::size_t n_embd) {
    if (file_.find(prefix + "ffn_gate_up_exps.weight") != nullptr) {
      expect_weights(prefix + "ffn_gate_up_exps.weight", {n_embd, 2 * n_ff, n_experts});
    } else {
      expect_weights(prefix + "ffn_gate_exps.weight", {n_embd, n_ff, n_experts});
      expect_weights(prefix + "ffn_up_exps.weight", {n_embd, n_ff, n_experts});
    }
    expect_weights(prefix + "ffn_down_exps.weight", {n_ff, n_embd, n_experts});
  }

  /// Says what is wrong, all at once: tensors missing, misshapen, or foreign to this architecture. A tensor that
  /// nobody asked for (a bias, say) would change the result if it were ignored.
  /// @throws Error{bad_tensor}
  void check(std::size_t n_layers) {
    for (const gguf::TensorInfo& info : file_.tensors()) {
      if (!known_.contains(info.name) && !in_skipped_block(info.name, n_layers)) {
        complain("tensor " + info.name + " is not part of this architecture");
      }
    }
    if (problems_.empty()) return;
    constexpr std::size_t most = 40;
    std::string text = file_.name() + ": ";
    for (std::size_t i = 0; i < std::min(problems_.size(), most); ++i) text += (i == 0 ? "" : "; ") + problems_[i];
    if (problems_.size() > most) text += "; and " + std::to_string(problems_.size() - most) + " more";
    throw Error(Errc::bad_tensor, text);
  }

  /// Reads or maps all that was asked for.
  /// @throws Error{io}; Error{bad_tensor} for numbers that must be negative and are not
  [[nodiscard]] ResidentWeights load(const WeightStorage& how, const Progress& progress) {
    ResidentWeights weights;
    storage::AnyStorage from = how.open(file_.paths());
    fill(weights, from, how.reads, progress);
    if (from.footprint({.shard = 0, .offset = 0, .bytes = 1}) == 0) {
      weights.views_ = std::move(from);
    }
    return weights;
  }

 private:
  const gguf::TensorInfo* expect(const std::string& name, const std::vector<std::size_t>& dims) {
    known_.insert(name);
    const gguf::TensorInfo* info = file_.find(name);
    if (info == nullptr) {
      complain("tensor " + name + " is missing");
      return nullptr;
    }
    bool fits = true;
    for (std::size_t i = 0; i < 4; ++i) fits = fits && info->dims[i] == (i < dims.size() ? dims[i] : 1);
    if (fits) return info;
    std::string expected;
    for (const std::size_t d : dims) expected += (expected.empty() ? "{" : ", ") + std::to_string(d);
    complain("tensor " + name + " has shape " + info->shape_text() + ", expected " + expected + "}");
    return nullptr;
  }

  /// The same for a tensor that activations are multiplied with.
  const gguf::TensorInfo* expect_weights(const std::string& name, const std::vector<std::size_t>& dims) {
    const gguf::TensorInfo* info = expect(name, dims);
    if (info != nullptr && !quant::is_weight(info->type)) {
      throw Error(Errc::unsupported_type, file_.name() + ": tensor " + name + " is of type " +
                                              std::string(quant::type_name(info->type)) +
                                              ", which holds data and not weights");
    }
    return info;
  }

  void complain(std::string problem) { problems_.push_back(std::move(problem)); }

  void fill(ResidentWeights& weights, storage::AnyStorage& from, unsigned reads, const Progress& progress) {
    Bytes in_memory = 0;
    for (const auto& [info, to] : wanted_) {
      weights.bytes_ += info->bytes;
      in_memory += align_up(from.footprint(slice(*info)), Bytes{64});
    }
    weights.memory_ = AlignedBuffer(static_cast<std::size_t>(in_memory));
    std::span<std::byte> free = weights.memory_.bytes();
    Arrivals arrivals{.total = weights.bytes_, .progress = progress};
    {
      parallel::IoQueue queue(reads);  // its end is the end of all reads
      for (const auto& [info, to] : wanted_) {
        const auto footprint = static_cast<std::size_t>(from.footprint(slice(*info)));
        const auto memory = free.first(footprint);
        free = free.subspan(align_up(footprint, std::size_t{64}));
        queue.submit(parallel::Priority::demand, [this, &arrivals, &from, info = info, to = &to, memory] {
          arrivals.take([&] {
            to->place(*info, file_.name(), from.fetch(slice(*info), memory));
            return info->bytes;
          });
        });
      }
    }
    if (arrivals.failure) std::rethrow_exception(arrivals.failure);
  }

  /// Counts what has come; after a failure nothing more is read.
  struct Arrivals {
    Bytes total = 0;
    const Progress& progress;
    std::mutex mutex = {};
    Bytes done = 0;
    std::exception_ptr failure = {};

    template <class Read>
    void take(Read&& read) noexcept {
      try {
        {
          const std::lock_guard lock(mutex);
          if (failure) return;
        }
        const Bytes bytes = read();
        const std::lock_guard lock(mutex);
        done += bytes;
        if (progress) progress(done, total);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };

  [[nodiscard]] static experts::SliceRef slice(const gguf::TensorInfo& info) noexcept {
    return {.shard = info.shard, .offset = info.offset, .bytes = info.bytes};
  }

  struct InFileOrder {
    bool operator()(const gguf::TensorInfo* a, const gguf::TensorInfo* b) const noexcept {
      return std::pair(a->shard, a->offset) < std::pair(b->shard, b->offset);
    }
  };

  const gguf::File& file_;
  std::map<const gguf::TensorInfo*, detail::WeightPlaces, InFileOrder> wanted_;
  std::set<std::string> known_;
  std::vector<std::string> problems_;
};

}  // namespace lazymoe::models
