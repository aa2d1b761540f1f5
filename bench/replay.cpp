// Hit rates of every eviction policy for several budgets, beside the oracle's, on a routing trace.
//
// bench_replay TRACE LAYERS EXPERTS: the trace as `logits --routes` writes it, or a table token,layer,e0,e1,... (.csv)

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <boost/hana/for_each.hpp>
#include <lazymoe/cache/hot_set.hpp>
#include <lazymoe/cache/layer_aware.hpp>
#include <lazymoe/cache/pinned.hpp>
#include <lazymoe/cache/registry.hpp>
#include <lazymoe/instrument/stopwatch.hpp>
#include <lazymoe/io/file_handle.hpp>
#include <lazymoe/trace/parse.hpp>
#include <lazymoe/trace/replay.hpp>

namespace {

using namespace lazymoe;

std::string read_all(const std::filesystem::path& path) {
  const io::FileHandle file(path);
  std::string text(static_cast<std::size_t>(file.bytes()), '\0');
  file.read_exact_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

trace::RoutingTrace read_trace(const std::filesystem::path& path, KeySpace space) {
  const std::string text = read_all(path);
  return path.extension() == ".csv" ? trace::parse_routes_csv(text, space, path.string())
                                    : trace::parse_routes(text, space, path.string());
}

class Table {
 public:
  Table(const trace::RoutingTrace& trace, std::vector<std::size_t> budgets)
      : trace_(trace), budgets_(std::move(budgets)) {
    std::printf("%-18s", "slots");
    for (const std::size_t n : budgets_) {
      std::printf("  %5zu %4.0f %%", n, 100.0 * static_cast<double>(n) / static_cast<double>(trace_.space().size()));
    }
    std::printf("  ns a request\n");
  }

  template <class Replay>
  void row(std::string_view name, Replay&& replay) const {
    std::printf("%-18s", std::string(name).c_str());
    const instrument::Stopwatch watch;
    for (const std::size_t n : budgets_) std::printf("  %10.2f %%", 100.0 * replay(n).hit_rate());
    const auto requests = static_cast<double>(trace_.keys().size() * budgets_.size());
    std::printf("  %12.0f\n", static_cast<double>(watch.elapsed_ns()) / requests);
    std::fflush(stdout);
  }

 private:
  const trace::RoutingTrace& trace_;
  std::vector<std::size_t> budgets_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fputs("usage: bench_replay TRACE LAYERS EXPERTS\n", stderr);
    return 1;
  }
  const KeySpace space{.layers = static_cast<std::uint32_t>(std::atoi(argv[2])),
                       .experts = static_cast<std::uint32_t>(std::atoi(argv[3]))};
  const trace::RoutingTrace trace = read_trace(argv[1], space);
  std::printf("%zu steps of %u layers with %u experts, %zu requests\n", trace.n_steps(), space.layers, space.experts,
              trace.keys().size());
  std::vector<std::size_t> budgets;
  for (const std::size_t percent : {5U, 10U, 20U, 26U, 40U, 50U, 75U}) {
    budgets.push_back(std::max(trace.widest_step(), space.size() * percent / 100));
  }
  const Table table(trace, budgets);

  table.row("belady", [&](std::size_t n) { return trace::replay_belady(trace, n); });
  boost::hana::for_each(cache::evictions, [&](auto policy) {
    using Policy = typename decltype(policy)::type;
    table.row(Policy::name, [&](std::size_t n) { return trace::replay<Policy>(trace, n); });
  });
  boost::hana::for_each(cache::evictions, [&](auto policy) {
    using Policy = cache::LayerAware<typename decltype(policy)::type>;
    table.row(Policy::name, [&](std::size_t n) { return trace::replay<Policy>(trace, n); });
  });
  for (const std::uint32_t window : {10U, 25U, 50U}) {
    table.row("w-tinylfu, " + std::to_string(window) + " %",
              [&](std::size_t n) { return trace::replay(trace, n, cache::WTinyLfu(space, window)); });
  }
  for (const std::uint64_t uses : {1U, 2U, 4U, 16U, 64U}) {
    table.row("lfu-aged, " + std::to_string(uses),
              [&](std::size_t n) { return trace::replay(trace, n, cache::LfuAged(space, uses * space.size())); });
  }
  for (const std::uint32_t n_layers : {1U, 2U}) {
    table.row("layer-lru, " + std::to_string(n_layers), [&](std::size_t n) {
      return trace::replay(trace, n, cache::LayerAware<cache::Lru>(space, cache::Lru(space), n_layers));
    });
  }
  // Half of the slots for what the trace itself shows to be hottest: a list learned from the same text.
  const auto uses = trace::count_uses(trace);
  table.row("half pinned, lru", [&](std::size_t n) {
    return trace::replay(trace, n, cache::Pinned<cache::Lru>(space, cache::Lru(space), cache::hottest(uses, n / 2)));
  });
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
