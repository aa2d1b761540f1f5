#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <CLI/App.hpp>
#include <lazymoe/experts/expert_map.hpp>
#include <lazymoe/gguf/file.hpp>
#include <lazymoe/instrument/counters.hpp>
#include <lazymoe/models/load.hpp>
#include <lazymoe/parallel/thread_pool.hpp>
#include <lazymoe/storage/any_storage.hpp>
#include <lazymoe/store/checksums.hpp>
#include <lazymoe/store/slot_plan.hpp>
#include <lazymoe/store/source.hpp>

#include "common/model_files.hpp"

namespace examples {

/// What the programs that run a model have in common on their command lines.
struct EngineOptions {
  std::string model;
  std::string experts = "lazy";
  std::string budget;
  std::string memory;
  std::string eviction;
  std::string storage = "auto";
  std::string url_cache;
  std::string prefetch = "gate-lookahead";
  unsigned lookahead = 1;
  unsigned lookahead_width = 0;
  unsigned prefetches = 1;
  std::string representation = "keep";
  std::string hot_set;
  std::string checksums;
  unsigned threads = 0;
  std::string kv = "f16";
  std::string recurrence = "step";
  lazymoe::models::SequenceOptions sequence;
  ModelFiles files;  ///< of `model`, once open() was called

  EngineOptions();
  void add_to(CLI::App& app);
  /// The model's file, its header checked; the message names all that is wrong with it, or an option that does not
  /// suit it.
  [[nodiscard]] lazymoe::gguf::File open();
  [[nodiscard]] lazymoe::models::SequenceOptions sequence_options() const;
};

/// What programs keep resident unless told otherwise.
[[nodiscard]] lazymoe::Bytes recommended_budget(const lazymoe::experts::ExpertMap& map);

/// A slip of the hand must not cost a model of 18 GB.
/// @throws lazymoe::Error{bad_argument} if `path`, where something is to be written, is a file of the model
void refuse_to_overwrite(const lazymoe::gguf::File& model, const std::string& path);

/// A model opened with the policies that the options name.
class Engine {
 public:
  /// Reads the weights.
  Engine(lazymoe::gguf::File file, const EngineOptions& options);

  [[nodiscard]] const lazymoe::gguf::File& file() const { return file_; }
  [[nodiscard]] const lazymoe::models::Model& model() const { return model_; }
  /// Of a lazy source; an eager one counts nothing.
  [[nodiscard]] std::optional<lazymoe::instrument::LayeredCounters> counters() const { return counters_(); }
  /// Of a lazy source: memory for slots; of an eager one: all experts.
  [[nodiscard]] lazymoe::Bytes expert_bytes() const { return expert_bytes_; }
  /// Gives memory of experts back for good; returns how much. Eager experts have none to give.
  /// @throws lazymoe::Error{over_budget, bad_argument}
  lazymoe::Bytes shrink_to(lazymoe::store::ExpertBudget budget);
  /// Told every choice of the routers.
  std::function<void(const lazymoe::store::RouteEvent&)> on_route;

 private:
  class Listening;

  std::unique_ptr<lazymoe::store::ExpertSource> open_source(const EngineOptions& options);
  template <class Representation>
  std::unique_ptr<lazymoe::store::ExpertSource> open_lazy(lazymoe::storage::AnyStorage storage,
                                                          const EngineOptions& options);
  std::unique_ptr<lazymoe::store::ExpertSource> open_eager(lazymoe::storage::AnyStorage storage);
  lazymoe::store::ExpertBudget expert_budget(const lazymoe::experts::ExpertMap& map, lazymoe::Bytes floor,
                                             const EngineOptions& options) const;
  lazymoe::models::Model open_model(const EngineOptions& options);

  lazymoe::gguf::File file_;
  lazymoe::parallel::ThreadPool pool_;
  std::function<std::optional<lazymoe::instrument::LayeredCounters>()> counters_;
  std::function<lazymoe::Bytes(lazymoe::store::ExpertBudget)> shrink_;
  lazymoe::Bytes expert_bytes_ = 0;
  std::unique_ptr<lazymoe::store::Checksums> checksums_;
  std::unique_ptr<lazymoe::store::ExpertSource> source_;
  lazymoe::models::Model model_;
};

}  // namespace examples
