// Says what is in a GGUF file and what it costs to run.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <lazymoe/core.hpp>
#include <lazymoe/models.hpp>
#include <lazymoe/quant/registry.hpp>
#include <lazymoe/store/slot_plan.hpp>

#include "common/engine.hpp"
#include "common/program.hpp"

namespace {

using lazymoe::Bytes;
using lazymoe::format_bytes;

/// The value, or the beginning of a long one.
std::string preview(const lazymoe::gguf::Value& value) {
  constexpr std::size_t longest = 100;
  const auto string = value.as<std::string_view>();
  std::string text = string ? std::string(*string) : value.describe_type();
  text = examples::one_line(text);
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end) + "...";
}

void print_metadata(const lazymoe::gguf::File& file) {
  std::cout << "metadata\n";
  for (const auto& [key, value] : file.metadata())
    std::cout << "  " << examples::one_line(key) << " = " << preview(value) << '\n';
}

void print_tensors(const lazymoe::gguf::File& file) {
  struct Sum {
    std::size_t n = 0;
    Bytes bytes = 0;
  };
  std::map<std::string, Sum> by_type;
  for (const auto& tensor : file.tensors()) {
    Sum& sum = by_type[std::string(lazymoe::quant::type_name(tensor.type))];
    ++sum.n;
    sum.bytes += tensor.bytes;
  }
  std::cout << "tensors\n";
  for (const auto& [type, sum] : by_type) {
    std::cout << "  " << std::left << std::setw(8) << type << std::right << std::setw(6) << sum.n << "  "
              << format_bytes(sum.bytes) << '\n';
  }
}

void print_experts(const lazymoe::experts::ExpertMap& map) {
  std::cout << "experts: " << map.space().experts << " in each of " << map.space().layers << " layers, " << map.n_used()
            << " used per token\n";
  for (lazymoe::LayerIndex layer = 0; layer < map.space().layers; ++layer) {
    std::cout << "  layer " << std::setw(3) << layer << "  ";
    if (!map.has_experts(layer)) {
      std::cout << "dense\n";
      continue;
    }
    const auto& l = map.layer(layer);
    for (const auto& [name, part] : {std::pair{"gate", &l.gate}, {"up", &l.up}, {"down", &l.down}}) {
      const auto slice = part->slice(0);
      std::cout << name << ' ' << lazymoe::quant::type_name(part->type) << " [" << part->rows << ", " << part->cols()
                << "] at " << slice.shard << ':' << slice.offset << "  ";
    }
    std::cout << "one expert " << l.bytes() << " bytes\n";
  }
}

void print_line(const char* what, Bytes bytes) {
  std::cout << "  " << std::left << std::setw(28) << what << std::right << std::setw(14) << bytes << "  "
            << format_bytes(bytes) << '\n';
}

void print_bytes(const lazymoe::gguf::File& file, const lazymoe::experts::ExpertMap& map) {
  Bytes all = 0;
  Bytes skipped = 0;
  for (const auto& tensor : file.tensors()) {
    all += tensor.bytes;
    if (lazymoe::models::in_skipped_block(tensor.name, map.space().layers)) skipped += tensor.bytes;
  }
  Bytes token = 0;
  for (lazymoe::LayerIndex layer = 0; layer < map.space().layers; ++layer) {
    if (map.has_experts(layer)) token += map.layer(layer).bytes() * map.n_used();
  }
  std::cout << "bytes\n";
  print_line("all tensors", all);
  print_line("resident (not experts)", all - skipped - map.total_bytes());
  if (skipped > 0) print_line("blocks that do not run", skipped);
  print_line("experts", map.total_bytes());
  print_line("experts one token uses", token);
  print_line("smallest --budget", lazymoe::store::SlotPlan::floor_bytes(map));
  print_line("recommended --budget", examples::recommended_budget(map));
  print_line("--budget for everything", lazymoe::store::SlotPlan(map, {}).total_bytes());
}

/// What a chat keeps in memory.
void print_memory(const lazymoe::gguf::File& file, const lazymoe::experts::ExpertMap& map, std::size_t n_ctx) {
  const auto needs = lazymoe::models::memory_needs(file, {.n_ctx = n_ctx});
  const Bytes fixed = needs.weights + needs.state;
  std::cout << "memory of a chat with a context of " << needs.n_ctx << " tokens\n";
  print_line("keys and values", needs.state);
  print_line("at the smallest --budget", fixed + lazymoe::store::SlotPlan::floor_bytes(map));
  print_line("at the recommended --budget", fixed + examples::recommended_budget(map));
}

/// Whether the file claims to have experts; a map of them may still find fault with it.
bool has_experts(const lazymoe::gguf::File& file) {
  const auto architecture = file.metadata().find<std::string_view>("general.architecture");
  if (architecture &&
      file.metadata().find<std::uint64_t>(std::string(*architecture) + ".expert_count").value_or(0) > 0) {
    return true;
  }
  return std::ranges::any_of(file.tensors(), [](const auto& t) { return t.name.find("_exps.") != std::string::npos; });
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded([&] {
    std::string path;
    std::string url_cache;
    std::size_t n_ctx = 4096;
    CLI::App app("What is in a GGUF file, and what it costs to run", "inspect");
    app.add_option("MODEL", path, "GGUF file (the first shard of a split one), or its URL")->required();
    app.add_option("--context", n_ctx, "tokens of a conversation, at most what the model allows")
        ->check(examples::within(1, 1 << 24))
        ->capture_default_str();
    examples::add_url_cache(app, url_cache);
    if (const auto exit_code = examples::parse(app, argc, argv)) return *exit_code;

    const examples::ModelFiles files(path, url_cache);
    const lazymoe::gguf::File file = files.open(path);
    std::cout << file.name() << ": " << file.shards().size() << (file.shards().size() == 1 ? " file" : " files")
              << ", header of " << format_bytes(file.header_bytes_read()) << " read\n";
    if (files.by_url()) std::cout << files.traffic() << '\n';
    print_metadata(file);
    print_tensors(file);
    if (!has_experts(file)) {
      std::cout << "experts: none\n";
      return 0;
    }
    const lazymoe::experts::ExpertMap map(file);
    print_experts(map);
    print_bytes(file, map);
    lazymoe::models::check_model(file);
    print_memory(file, map, n_ctx);
    return 0;
  });
}
