#include "common/engine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <lazymoe/cache/hot_set.hpp>
#include <lazymoe/cache/pinned.hpp>
#include <lazymoe/cache/registry.hpp>
#include <lazymoe/core/error.hpp>
#include <lazymoe/core/units.hpp>
#include <lazymoe/core/visit_named.hpp>
#include <lazymoe/io/memory_limit.hpp>
#include <lazymoe/io/url.hpp>
#include <lazymoe/models/memory.hpp>
#include <lazymoe/storage/registry.hpp>
#ifdef EXAMPLES_URING
#include <lazymoe/storage/uring.hpp>
#endif
#include <lazymoe/store/all_resident.hpp>
#include <lazymoe/store/expert_store.hpp>
#include <lazymoe/store/forwarding_source.hpp>
#include <lazymoe/store/memory_budget.hpp>
#include <lazymoe/store/prefetch.hpp>
#include <lazymoe/store/representation.hpp>

#include "common/program.hpp"

namespace examples {
namespace {

using lazymoe::store::DefaultPolicies;

CLI::IsMember one_of(std::vector<std::string> names) { return CLI::IsMember(std::move(names)); }

std::vector<std::string> eviction_names() {
  const auto plain = lazymoe::cache::eviction_names();
  std::vector<std::string> names(plain.begin(), plain.end());
  for (const std::string_view name : plain) names.push_back("layer-" + std::string(name));
  return names;
}

// Uring is chosen by name where there is liburing.
std::vector<std::string> storage_names() {
#ifdef EXAMPLES_URING
  const auto names = lazymoe::storage::storage_names<lazymoe::storage::Uring>();
#else
  const auto names = lazymoe::storage::storage_names();
#endif
  return {names.begin(), names.end()};
}

/// Where memory is short the page cache would only keep a second copy of what is in slots.
lazymoe::storage::AnyStorage make_uncached_storage(std::span<const std::filesystem::path> paths) {
#ifdef EXAMPLES_URING
  try {
    return lazymoe::storage::AnyStorage(lazymoe::storage::Uring(paths));
  } catch (const lazymoe::Error&) {  // a kernel without it, or one that forbids it
  }
#endif
  return lazymoe::storage::AnyStorage(lazymoe::storage::Direct(paths));
}

lazymoe::storage::AnyStorage make_storage(std::string_view name, std::span<const std::filesystem::path> paths) {
#ifdef EXAMPLES_URING
  return lazymoe::storage::make_storage<lazymoe::storage::Uring>(name, paths);
#else
  return lazymoe::storage::make_storage(name, paths);
#endif
}

CLI::Validator a_budget() {
  return {[](const std::string& text) -> std::string {
            try {
              (void)lazymoe::store::ExpertBudget::parse(text);
              return {};
            } catch (const lazymoe::Error& error) {
              return error.what();
            }
          },
          ""};
}

CLI::Validator a_memory() {
  return {[](const std::string& text) -> std::string {
            try {
              if (text != "auto") (void)lazymoe::parse_bytes(text);
              return {};
            } catch (const lazymoe::Error& error) {
              return error.what();
            }
          },
          ""};
}

/// What the program, its libraries and stacks take, with room for what is not counted one by one.
constexpr lazymoe::Bytes program_bytes = lazymoe::Bytes{20} << 20;

/// A token's text, its merge and their places in the tables.
constexpr lazymoe::Bytes token_bytes = 256;

/// Requests to a server at once: it is further away than a disk.
constexpr unsigned url_requests = 16;

/// A bar on a terminal, nothing elsewhere.
class LoadingBar {
 public:
  explicit LoadingBar(std::string what) : what_(std::move(what)), shown_(::isatty(STDERR_FILENO) != 0) {}

  void operator()(lazymoe::Bytes done, lazymoe::Bytes total) {
    const int percent = static_cast<int>(total == 0 ? 100 : done * 100 / total);
    if (!shown_ || percent == percent_) return;
    percent_ = percent;
    std::cerr << "\r\033[K";
    if (done < total) std::cerr << what_ << ' ' << percent << " % of " << lazymoe::format_bytes(total);
    std::cerr << std::flush;
  }

 private:
  std::string what_;
  bool shown_;
  int percent_ = -1;
};

/// What was chosen on the command line.
template <class R>
struct Chosen {
  using Storage = lazymoe::storage::AnyStorage;
  using Eviction = lazymoe::cache::AnyEviction;
  using Representation = R;
  using Prefetch = lazymoe::store::AnyPrefetch;
};

/// Calls fn(tags...) with a tag for every representation that can be chosen.
template <class Fn>
auto with_representations(Fn&& fn) {
  namespace quant = lazymoe::quant;
  using namespace lazymoe::store;
  return fn(std::type_identity<KeepQuantized>{}, std::type_identity<DecodeTo<quant::F32>>{},
            std::type_identity<DecodeTo<quant::F16>>{}, std::type_identity<DecodeTo<quant::BF16>>{},
            std::type_identity<RequantizeTo<quant::Q8_0>>{}, std::type_identity<RequantizeTo<quant::Q4_0>>{});
}

std::vector<std::string> representation_names() {
  return with_representations(
      [](auto... tags) { return std::vector<std::string>{std::string(decltype(tags)::type::name)...}; });
}

/// The whole of a small file.
std::string read_file(const std::string& path) {
  constexpr std::size_t most = std::size_t{256} << 20;
  const auto refuse = [&](const char* why) { throw lazymoe::Error(lazymoe::Errc::io, path + ": " + why); };
  if (std::filesystem::is_directory(path)) refuse("is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse("cannot be read");
  std::string text;
  std::array<char, 1 << 16> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) refuse("is too large to be what it was named for");
  }
  if (in.bad()) refuse("cannot be read");
  return text;
}

CLI::Validator a_name() {
  return {[](const std::string& text) -> std::string { return text.empty() ? "the name is empty" : ""; }, ""};
}

}  // namespace

EngineOptions::EngineOptions() : eviction(DefaultPolicies::Eviction::name) {}

void EngineOptions::add_to(CLI::App& app) {
  // Flags win over the environment: there a budget may stand for all programs, and counts only where experts are lazy.
  app.add_option("--experts", experts, "lazy: read when they are needed, within --budget; eager: all at the start")
      ->check(CLI::IsMember({"lazy", "eager"}))
      ->envname("LAZYMOE_EXPERTS")
      ->capture_default_str();
  const CLI::Option* const budget_option =
      app.add_option("--budget", budget,
                     "memory for lazy experts, such as 6GiB or 24experts; default: what inspect recommends. Refused "
                     "with eager ones, where that of the environment does not count")
          ->check(a_budget())
          ->envname("LAZYMOE_BUDGET");
  const CLI::Option* const memory_option =
      app.add_option("--memory", memory,
                     "memory for all of the program, such as 8GiB: lazy experts get what the rest leaves; auto: what the "
                     "system and its control group have available")
          ->check(a_memory());
  app.final_callback([this, &app, budget_option, memory_option] {
    const auto typed = [&](const CLI::Option* option) {
      return std::ranges::find(app.parse_order(), option) != app.parse_order().end();
    };
    if (experts == "eager" && typed(budget_option)) {
      throw CLI::ValidationError("--budget", "eager experts are all resident and have no budget");
    }
    if (experts == "eager" && typed(memory_option)) {
      throw CLI::ValidationError("--memory", "eager experts are all resident, whatever memory there is");
    }
    for (const char* name : {"--eviction", "--prefetch", "--lookahead", "--lookahead-width", "--prefetches",
                             "--representation", "--hot-set", "--checksums"}) {
      if (experts == "eager" && typed(app.get_option(name))) {
        throw CLI::ValidationError(name, "is for lazy experts; eager ones are all resident, as they are in the file");
      }
    }
    if (typed(app.get_option("--storage")) && storage != "auto" && lazymoe::io::is_url(model)) {
      throw CLI::ValidationError("--storage", "is for files; what lies at a URL is read by requests for ranges");
    }
    if (typed(memory_option) && typed(budget_option)) {
      throw CLI::ValidationError("--memory", "sizes the budget by itself: give one or the other");
    }
  });
  app.add_option("--eviction", eviction, "how the expert to evict is chosen")
      ->check(one_of(eviction_names()))
      ->capture_default_str();
  auto storages = storage_names();
  storages.insert(storages.begin(), "auto");
  app.add_option("--storage", storage,
                 "how experts are read from files; auto: past the page cache with --memory, else through it")
      ->check(one_of(storages))
      ->capture_default_str();
  add_url_cache(app, url_cache);
  const auto prefetch_names = lazymoe::store::AnyPrefetch::names;
  app.add_option("--prefetch", prefetch, "which experts are read before they are asked for, while the storage is idle")
      ->check(one_of({prefetch_names.begin(), prefetch_names.end()}))
      ->capture_default_str();
  app.add_option("--lookahead", lookahead, "layers that gate-lookahead looks ahead")
      ->check(within(1, 16))
      ->capture_default_str();
  app.add_option("--lookahead-width", lookahead_width, "experts a token that it guesses; 0: as many as are used")
      ->check(within(0, 1 << 16))
      ->capture_default_str();
  app.add_option("--prefetches", prefetches, "experts that may be read on a guess at once")
      ->check(within(1, 1 << 10))
      ->capture_default_str();
  app.add_option("--representation", representation,
                 "what lazy experts become in memory: as in the file, or packed anew, which changes the logits")
      ->check(one_of(representation_names()))
      ->capture_default_str();
  app.add_option("--hot-set", hot_set, "file of lines \"layer expert\": experts that are evicted last")
      ->check(a_name());
  app.add_option("--checksums", checksums,
                 "compares what is read of lazy experts with its first-read, or with the checksums in a file")
      ->check(a_name());
  app.add_option("--threads", threads, "for the arithmetic; default: all cores")->check(within(1, 1024));
  app.add_option("--kv", kv, "precision of keys and values")
      ->check(CLI::IsMember({"f16", "f32"}))
      ->capture_default_str();
  app.add_option("--recurrence", recurrence,
                 "how recurrent layers take a prompt: token after token as the reference does, or in chunks: faster, and "
                 "rounded differently")
      ->check(CLI::IsMember({"step", "chunked"}))
      ->capture_default_str();
  app.add_option("--batch", sequence.n_batch, "prompt tokens that are run together")
      ->check(within(1, 1 << 16))
      ->capture_default_str();
  app.add_option("--context", sequence.n_ctx, "tokens of a conversation; default: what the model allows, at most 4096")
      ->check(within(1, 1 << 24));
}

lazymoe::gguf::File EngineOptions::open() {
  files = ModelFiles(model, url_cache);
  lazymoe::gguf::File file = files.open(model);
  lazymoe::models::check_model(file);
  // Said before the weights are read.
  const auto architecture = file.metadata().require<std::string_view>("general.architecture");
  const auto longest = file.metadata().require<std::uint64_t>(std::string(architecture) + ".context_length");
  if (sequence.n_ctx > longest) {
    throw lazymoe::Error(lazymoe::Errc::bad_argument,
                         file.name() + ": --context " + std::to_string(sequence.n_ctx) +
                             " is more than the model allows, which is " + std::to_string(longest) + " tokens");
  }
  return file;
}

lazymoe::models::SequenceOptions EngineOptions::sequence_options() const {
  auto options = sequence;
  options.kv_type = kv == "f32" ? lazymoe::models::KvType::f32 : lazymoe::models::KvType::f16;
  options.recurrence =
      recurrence == "chunked" ? lazymoe::models::Recurrence::chunked
                                                     : lazymoe::models::Recurrence::step;
  return options;
}

// Published routing traces give an LRU nine hits in ten at two experts in five, and the next tenth costs as much again.
lazymoe::Bytes recommended_budget(const lazymoe::experts::ExpertMap& map) {
  const auto everything = lazymoe::store::SlotPlan(map, {}).total_bytes();
  return std::max(lazymoe::store::SlotPlan::floor_bytes(map), everything / 5 * 2);
}

void refuse_to_overwrite(const lazymoe::gguf::File& model, const std::string& path) {
  for (const auto& shard : model.shards()) {
    std::error_code absent;
    if (!path.empty() && std::filesystem::equivalent(path, shard.path, absent)) {
      throw lazymoe::Error(lazymoe::Errc::bad_argument, path + ": is the model, and would be overwritten");
    }
  }
}

/// Tells what was routed.
class Engine::Listening final : public lazymoe::store::ForwardingSource {
 public:
  Listening(const Engine& engine, std::unique_ptr<ExpertSource> source)
      : ForwardingSource(*source), engine_(engine), source_(std::move(source)) {}

  void on_route(const lazymoe::store::RouteEvent& event) override {
    if (engine_.on_route) engine_.on_route(event);
    ForwardingSource::on_route(event);
  }

 private:
  const Engine& engine_;
  std::unique_ptr<ExpertSource> source_;
};

Engine::Engine(lazymoe::gguf::File file, const EngineOptions& options)
    : file_(std::move(file)), pool_(options.threads), source_(open_source(options)), model_(open_model(options)) {}

std::unique_ptr<lazymoe::store::ExpertSource> Engine::open_source(const EngineOptions& options) {
  if (options.storage == lazymoe::storage::Memory::name && !options.memory.empty()) {  // before whole files are read
    const lazymoe::experts::ExpertMap map(file_);
    (void)expert_budget(map, lazymoe::store::SlotPlan::floor_bytes(map), options);
  }
  auto storage = [&] {
    if (options.files.by_url()) return options.files.storage(file_.paths());
    if (options.storage != "auto") return make_storage(options.storage, file_.paths());
    return options.memory.empty() ? make_storage(DefaultPolicies::Storage::name, file_.paths())
                                  : make_uncached_storage(file_.paths());
  }();
  for (const std::string& note : storage.notes()) std::cerr << one_line(note) << '\n';
  std::unique_ptr<lazymoe::store::ExpertSource> source;
  if (options.experts == "eager") {
    source = open_eager(std::move(storage));
  } else {
    const auto open = [&](auto tag) {
      source = open_lazy<typename decltype(tag)::type>(std::move(storage), options);
    };
    with_representations(
        [&](auto... tags) { lazymoe::visit_named("representation", options.representation, open, tags...); });
  }
  return std::make_unique<Listening>(*this, std::move(source));
}

lazymoe::store::ExpertBudget Engine::expert_budget(const lazymoe::experts::ExpertMap& map, lazymoe::Bytes floor,
                                                   const EngineOptions& options) const {
  if (options.memory.empty()) {
    return options.budget.empty() ? std::max(recommended_budget(map), floor)
                                  : lazymoe::store::ExpertBudget::parse(options.budget);
  }
  lazymoe::Bytes total = 0;
  if (options.memory == "auto") {
    const auto limit = lazymoe::io::memory_limit();
    if (!limit) throw lazymoe::Error(lazymoe::Errc::io, "--memory auto: this system does not say what is available");
    total = limit->bytes;
  } else {
    total = lazymoe::parse_bytes(options.memory);
  }
  const auto needs = lazymoe::models::memory_needs(file_, options.sequence_options(), pool_.size());
  std::vector<lazymoe::store::MemoryBudget::Entry> entries{
      {"program", program_bytes},
      {"tokenizer", token_bytes * file_.find("token_embd.weight")->rows()},
      {"weights", needs.weights},
      {"keys and values", needs.state},
      {"scratch", needs.scratch}};
  if (options.storage == lazymoe::storage::Memory::name && !options.files.by_url()) {
    lazymoe::Bytes files = 0;
    for (const auto& shard : file_.shards()) files += shard.bytes;
    entries.push_back({"whole files", files});
  }
  return lazymoe::store::MemoryBudget(total).reserve_rest(std::move(entries), "experts", floor);
}

template <class Representation>
std::unique_ptr<lazymoe::store::ExpertSource> Engine::open_lazy(lazymoe::storage::AnyStorage storage,
                                                                const EngineOptions& options) {
  lazymoe::experts::ExpertMap map(file_);
  lazymoe::store::StoreOptions store_options{.prefetches = options.prefetches};
  using Store = lazymoe::store::ExpertStore<Chosen<Representation>>;
  store_options.budget = expert_budget(map, Store::floor_bytes(map, storage), options);
  if (options.files.by_url()) store_options.io_threads = url_requests;
  if (!options.checksums.empty()) {
    checksums_ = std::make_unique<lazymoe::store::Checksums>(map.space());
    if (options.checksums != "first-read") checksums_->parse(read_file(options.checksums), options.checksums);
    store_options.checksums = checksums_.get();
  }
  std::vector<lazymoe::ExpertKey> hot;
  if (!options.hot_set.empty()) {
    hot = lazymoe::cache::parse_hot_set(read_file(options.hot_set), map.space(), options.hot_set);
  }
  const auto make_eviction = [&](lazymoe::KeySpace space) {
    auto eviction = lazymoe::cache::make_eviction(options.eviction, space);
    if (hot.empty()) return eviction;
    return lazymoe::cache::AnyEviction(lazymoe::cache::Pinned<lazymoe::cache::AnyEviction>(space, std::move(eviction), hot));
  };
  auto store = std::make_unique<Store>(std::move(map), std::move(storage), store_options, make_eviction,
                                       lazymoe::store::AnyPrefetch::of(options.prefetch, {.depth = options.lookahead,
                                                                                                 .width = options.lookahead_width}));
  expert_bytes_ = store->plan().total_bytes();
  counters_ = [s = store.get()] { return s->counters(); };
  shrink_ = [s = store.get()](lazymoe::store::ExpertBudget budget) { return s->shrink_to(budget); };
  return store;
}

std::unique_ptr<lazymoe::store::ExpertSource> Engine::open_eager(lazymoe::storage::AnyStorage storage) {
  auto all = std::make_unique<lazymoe::store::AllResident<lazymoe::storage::AnyStorage>>(file_, std::move(storage),
                                                                                        LoadingBar("experts"));
  expert_bytes_ = all->map().total_bytes();
  counters_ = [] { return std::nullopt; };
  return all;
}

lazymoe::Bytes Engine::shrink_to(lazymoe::store::ExpertBudget budget) {
  if (!shrink_) throw lazymoe::Error(lazymoe::Errc::bad_argument, "eager experts are all resident and cannot shrink");
  const lazymoe::Bytes returned = shrink_(budget);
  expert_bytes_ -= returned;
  return returned;
}

lazymoe::models::Model Engine::open_model(const EngineOptions& options) {
  auto how = options.storage == lazymoe::storage::Mmap::name ? lazymoe::models::WeightStorage::mmap
                                                             : lazymoe::models::WeightStorage::read;
  if (options.files.by_url()) {
    how = {.open = [files = options.files](const auto& paths) { return files.storage(paths); }, .reads = url_requests};
  }
  return lazymoe::models::load_model(file_, *source_, pool_, how, LoadingBar("weights"));
}

}  // namespace examples
