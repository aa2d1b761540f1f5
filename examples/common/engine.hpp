#pragma once

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <lazymoe/lazymoe.hpp>

namespace examples {

/// "a, b, c"
[[nodiscard]] inline std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

/// What the programs that run a model have in common on their command lines.
struct EngineOptions {
  std::string model;
  std::string experts = "lazy";
  std::string budget;
  std::string eviction = std::string(lazymoe::DefaultPolicies::Eviction::name);
  std::string storage = std::string(lazymoe::DefaultPolicies::Storage::name);
  unsigned threads = 0;
  std::string kv = "f16";
  lazymoe::models::SequenceOptions sequence;

  void add_to(CLI::App& app) {
    // Flags win over the environment.
    app.add_option("--experts", experts, "lazy: read experts when they are needed; eager: all at the start")
        ->check(CLI::IsMember({"lazy", "eager"}))
        ->envname("LAZYMOE_EXPERTS");
    app.add_option("--budget", budget, "memory for experts, such as 6GiB or 24experts (lazy)")
        ->envname("LAZYMOE_BUDGET");
    app.add_option("--eviction", eviction, "which expert leaves: " + listed(lazymoe::cache::eviction_names()));
    app.add_option("--storage", storage, "how experts are read: " + listed(lazymoe::storage::storage_names()));
    app.add_option("--threads", threads, "default: all cores")->check(CLI::Range(1U, 1024U));
    app.add_option("--kv", kv, "precision of keys and values")->check(CLI::IsMember({"f16", "f32"}));
    app.add_option("--batch", sequence.n_batch, "prompt tokens run together")->check(CLI::Range(1, 1 << 16));
    app.add_option("--context", sequence.n_ctx, "tokens that fit; default: the model's, at most 4096");
  }

  [[nodiscard]] lazymoe::models::SequenceOptions sequence_options() const {
    auto options = sequence;
    options.kv_type = kv == "f32" ? lazymoe::models::KvType::f32 : lazymoe::models::KvType::f16;
    return options;
  }
};

/// What programs keep resident unless told otherwise: published routing traces give an LRU nine hits in ten at two
/// experts in five, and the next tenth costs as much memory again.
[[nodiscard]] inline lazymoe::Bytes recommended_budget(const lazymoe::experts::ExpertMap& map) {
  const auto everything = lazymoe::store::SlotPlan(map, {}).total_bytes();
  return std::max(lazymoe::store::SlotPlan::floor_bytes(map), everything / 5 * 2);
}

/// A bar on a terminal, nothing elsewhere.
class LoadingBar {
 public:
  explicit LoadingBar(std::string what) : what_(std::move(what)), shown_(::isatty(STDERR_FILENO) != 0) {}
  ~LoadingBar() {
    if (shown_ && percent_ >= 0) std::cerr << "\r\033[K" << std::flush;
  }
  void operator()(lazymoe::Bytes done, lazymoe::Bytes total) {
    const int percent = static_cast<int>(total == 0 ? 100 : done * 100 / total);
    if (!shown_ || percent == percent_) return;
    percent_ = percent;
    std::cerr << "\r\033[K" << what_ << ' ' << percent << " % of " << lazymoe::format_bytes(total) << std::flush;
  }

 private:
  std::string what_;
  bool shown_;
  int percent_ = -1;
};

template <class ChosenStorage, class ChosenEviction>
struct Chosen : lazymoe::DefaultPolicies {
  using Storage = ChosenStorage;
  using Eviction = ChosenEviction;
};

/// A model opened with the policies that the options name.
class Engine {
 public:
  explicit Engine(const EngineOptions& options)
      : file_(options.model), pool_(options.threads), source_(open_source(options)), model_(open_model(options)) {}

  [[nodiscard]] const lazymoe::gguf::File& file() const { return file_; }
  [[nodiscard]] const lazymoe::Model& model() const { return model_; }
  /// Of a lazy source; all zero for an eager one.
  [[nodiscard]] lazymoe::instrument::LayeredCounters counters() const { return counters_(); }
  /// Of a lazy source: memory for slots; of an eager one: all experts.
  [[nodiscard]] lazymoe::Bytes expert_bytes() const { return expert_bytes_; }
  /// Told every choice of the routers.
  std::function<void(const lazymoe::store::RouteEvent&)> on_route;

 private:
  /// Passes everything on, and tells what was routed.
  struct Listening final : lazymoe::ExpertSource {
    Listening(Engine& owner, std::unique_ptr<lazymoe::ExpertSource> source) : engine(owner), inner(std::move(source)) {}
    lazymoe::store::Leases acquire(lazymoe::LayerIndex layer, std::span<const lazymoe::ExpertIndex> e) override {
      return inner->acquire(layer, e);
    }
    std::size_t max_leases(lazymoe::LayerIndex layer) const noexcept override { return inner->max_leases(layer); }
    bool resident(lazymoe::LayerIndex layer, lazymoe::ExpertIndex e) const override { return inner->resident(layer, e); }
    void on_route(const lazymoe::store::RouteEvent& event) override {
      if (engine.on_route) engine.on_route(event);
      inner->on_route(event);
    }
    Engine& engine;
    std::unique_ptr<lazymoe::ExpertSource> inner;
  };

  std::unique_ptr<lazymoe::ExpertSource> open_source(const EngineOptions& options) {
    lazymoe::models::check_model(file_);  // one message for all that is wrong, before the experts' own
    std::unique_ptr<lazymoe::ExpertSource> source;
    lazymoe::storage::visit_storage(options.storage, [&](auto storage) {
      using Storage = typename decltype(storage)::type;
      if (options.experts == "eager") {
        auto all = std::make_unique<lazymoe::AllResident<Storage>>(file_, LoadingBar("experts"));
        expert_bytes_ = all->map().total_bytes();
        counters_ = [] { return lazymoe::instrument::LayeredCounters(); };
        source = std::move(all);
        return;
      }
      lazymoe::cache::visit_eviction(options.eviction, [&](auto eviction) {
        using Policies = Chosen<Storage, typename decltype(eviction)::type>;
        lazymoe::experts::ExpertMap map(file_);
        lazymoe::StoreOptions store_options;
        store_options.budget =
            options.budget.empty() ? recommended_budget(map) : lazymoe::ExpertBudget::parse(options.budget);
        auto store = std::make_unique<lazymoe::ExpertStore<Policies>>(std::move(map), Storage(file_.paths()),
                                                                    store_options);
        expert_bytes_ = store->plan().total_bytes();
        counters_ = [s = store.get()] { return s->counters(); };
        source = std::move(store);
      });
    });
    return std::make_unique<Listening>(*this, std::move(source));
  }

  lazymoe::Model open_model(const EngineOptions& options) {
    const auto how = options.storage == lazymoe::storage::Mmap::name ? lazymoe::models::WeightStorage::mmap
                                                                     : lazymoe::models::WeightStorage::read;
    return lazymoe::load_model(file_, *source_, pool_, how, LoadingBar("weights"));
  }

  lazymoe::gguf::File file_;
  lazymoe::ThreadPool pool_;
  std::function<lazymoe::instrument::LayeredCounters()> counters_;
  lazymoe::Bytes expert_bytes_ = 0;
  std::unique_ptr<lazymoe::ExpertSource> source_;
  lazymoe::Model model_;
};

/// Reads the command line; an exit code if the program shall end here.
[[nodiscard]] inline std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& end) {
    return app.exit(end) == 0 ? 0 : 1;  // --help is no error
  }
}

/// Runs `program`; an error becomes one sentence and exit code 1.
template <class Program>
int guarded(Program&& program) {
  try {
    return program();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

}  // namespace examples
