// The library's law of laws: what the reference makes of small real files, tests/golden/models/README.md.
#include <lazymoe/models/load.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lazymoe/store/all_resident.hpp>
#include <lazymoe/store/expert_store.hpp>
#include <lazymoe/store/forwarding_source.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"

namespace lazymoe::models {
namespace {

std::string golden_path(const std::string& name) { return std::string(LAZYMOE_GOLDEN_DIR) + "/models/" + name; }

std::ifstream open_golden(const std::string& name) {
  std::ifstream file(golden_path(name), std::ios::binary);
  if (!file) throw std::runtime_error(golden_path(name) + ": cannot open");
  return file;
}

std::vector<TokenId> golden_tokens() {
  std::ifstream file = open_golden("tokens.txt");
  return {std::istream_iterator<TokenId>(file), {}};
}

/// @param model such as "qwen3moe/Q8_0"
std::vector<float> golden_logits(const std::string& model, std::size_t n) {
  std::vector<float> logits(n);
  const auto bytes = std::as_writable_bytes(std::span(logits));
  std::ifstream file = open_golden(model + ".logits.f32");
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (file.gcount() != static_cast<std::streamsize>(bytes.size())) throw std::runtime_error(model + ": logits cut");
  return logits;
}

/// A choice of a router: layer, position, then experts, best first.
using Route = std::vector<std::size_t>;

std::vector<Route> golden_routes(const std::string& model) {
  std::ifstream file = open_golden(model + ".routes.txt");
  std::vector<Route> routes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    routes.emplace_back(std::istream_iterator<std::size_t>(words), std::istream_iterator<std::size_t>());
  }
  return routes;
}

/// Writes down what routers choose.
class Listening final : public store::ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  void on_route(const store::RouteEvent& event) override {
    Route& route = routes.emplace_back(Route{event.layer, event.position});
    route.insert(route.end(), event.experts.begin(), event.experts.end());
  }

  std::vector<Route> routes;
};

struct Result {
  std::vector<float> logits;
  std::vector<Route> routes;  // by layer, then position
};

Result run(const gguf::File& file, store::ExpertSource& experts) {
  Listening listening(experts);
  parallel::ThreadPool pool(2);
  const Model model = load_model(file, listening, pool);
  Result result{test::all_logits(model, golden_tokens(), {.kv_type = KvType::f32}), std::move(listening.routes)};
  std::sort(result.routes.begin(), result.routes.end());
  return result;
}

/// How far rows of logits are from those that are expected.
struct Comparison {
  std::vector<double> errors;  ///< relative rms of each position, in rising order
  std::size_t equal_tops = 0;  ///< positions with the same likeliest token
};

Comparison compare(const std::vector<float>& got, const std::vector<float>& expected, std::size_t n_vocab) {
  Comparison c;
  for (std::size_t first = 0; first < expected.size(); first += n_vocab) {
    double differences = 0.0;
    double squares = 0.0;
    for (std::size_t i = first; i < first + n_vocab; ++i) {
      const double e = static_cast<double>(expected[i]);
      differences += std::pow(static_cast<double>(got[i]) - e, 2);
      squares += e * e;
    }
    c.errors.push_back(std::sqrt(differences / squares));
    const auto top = [&](const std::vector<float>& x) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
      return std::max_element(begin, begin + static_cast<std::ptrdiff_t>(n_vocab)) - begin;
    };
    c.equal_tops += top(got) == top(expected) ? 1 : 0;
  }
  std::sort(c.errors.begin(), c.errors.end());
  return c;
}

/// The share of slots in which both name the same expert.
double equal_slots(const std::vector<Route>& got, const std::vector<Route>& expected) {
  REQUIRE(got.size() == expected.size());
  std::size_t equal = 0;
  std::size_t all = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i].size() == expected[i].size());
    REQUIRE((got[i][0] == expected[i][0] && got[i][1] == expected[i][1]));
    for (std::size_t j = 2; j < got[i].size(); ++j, ++all) equal += got[i][j] == expected[i][j] ? 1 : 0;
  }
  return static_cast<double>(equal) / static_cast<double>(all);
}

}  // namespace

TEST_CASE("Logits and routes are the reference's", "[models]") {
  const std::string name = GENERATE(as<std::string>{}, "qwen3moe/F32", "qwen3moe/Q8_0", "qwen3moe/Q6_K",
                                    "qwen3moe/Q4_K_M", "olmoe/F32", "olmoe/Q8_0", "moonlight/F32", "moonlight/Q8_0",
                                    "glm-flash/F32", "glm-flash/Q8_0", "qwen35moe/F32", "qwen35moe/Q8_0",
                                    "deepseek-v2/F32", "deepseek-v3/Q8_0", "qwen2moe/Q8_0", "mixtral/Q8_0",
                                    "glm4moe/Q8_0", "gpt-oss/Q8_0", "granitemoe/Q8_0", "qwen3next/Q8_0");
  const bool lazy = GENERATE(false, true);
  CAPTURE(name, lazy);
  const gguf::File file(golden_path(name + ".gguf"));
  const Result result = [&] {
    if (lazy) {
      const experts::ExpertMap map(file);
      store::ExpertStore<> smallest(map, storage::Pread(file.paths()), {.budget = store::SlotPlan::floor_bytes(map)});
      return run(file, smallest);
    }
    store::AllResident<> all(file);
    return run(file, all);
  }();

  const std::size_t n_tokens = golden_tokens().size();
  const std::size_t n_vocab = result.logits.size() / n_tokens;
  const Comparison c = compare(result.logits, golden_logits(name, result.logits.size()), n_vocab);
  const double routes = equal_slots(result.routes, golden_routes(name));
  const double median = c.errors[n_tokens / 2];
  const double ninetieth = c.errors[9 * (n_tokens - 1) / 10];
  CAPTURE(median, ninetieth, c.errors.back(), c.equal_tops, routes);
  if (name.ends_with("/F32")) {
    CHECK(c.errors.back() <= 1e-4);
    CHECK(c.equal_tops == n_tokens);
    CHECK(routes == 1.0);
    return;
  }
  // Weights are packed and inputs are rounded to 8 bits: a sum in another order flips a rounding here and there.
  CHECK(median <= 2e-2);
  CHECK(ninetieth <= 0.1);
  CHECK(c.equal_tops >= n_tokens - 1);
  CHECK(routes >= 0.99);
#if defined(__AVX2__) && defined(__FMA__)
  // Here sums are in the order of the build of the reference that made the goldens.
  CHECK(c.errors[(9 * n_tokens + 9) / 10 - 1] <= 1e-6);
#endif
}

}  // namespace lazymoe::models
