// Says what is in a GGUF file and what it costs to run.
#include <iomanip>
#include <iostream>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <lazymoe/core.hpp>
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
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end) + "...";
}

void print_metadata(const lazymoe::gguf::File& file) {
  std::cout << "metadata\n";
  for (const auto& [key, value] : file.metadata()) std::cout << "  " << key << " = " << preview(value) << '\n';
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

void print_bytes(const lazymoe::gguf::File& file, const lazymoe::experts::ExpertMap& map) {
  Bytes all = 0;
  for (const auto& tensor : file.tensors()) all += tensor.bytes;
  const Bytes floor = lazymoe::store::SlotPlan::floor_bytes(map);
  const Bytes everything = lazymoe::store::SlotPlan(map, {}).total_bytes();
  Bytes token = 0;
  for (lazymoe::LayerIndex layer = 0; layer < map.space().layers; ++layer) {
    if (map.has_experts(layer)) token += map.layer(layer).bytes() * map.n_used();
  }
  const auto line = [](const char* what, Bytes bytes) {
    std::cout << "  " << std::left << std::setw(28) << what << std::right << std::setw(14) << bytes << "  "
              << format_bytes(bytes) << '\n';
  };
  std::cout << "bytes\n";
  line("all tensors", all);
  line("resident (not experts)", all - map.total_bytes());
  line("experts", map.total_bytes());
  line("experts one token uses", token);
  line("smallest --budget", floor);
  line("recommended --budget", examples::recommended_budget(map));
  line("--budget for everything", everything);
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded([&] {
    std::string path;
    CLI::App app("What is in a GGUF file, and what it costs to run");
    app.add_option("model", path, "GGUF file (the first shard of a split one)")->required();
    if (const auto exit_code = examples::parse(app, argc, argv)) return *exit_code;

    const lazymoe::gguf::File file(path);
    std::cout << file.name() << ": " << file.shards().size() << " file(s), header of "
              << format_bytes(file.header_bytes_read()) << " read\n";
    print_metadata(file);
    print_tensors(file);
    const lazymoe::experts::ExpertMap map(file);
    print_experts(map);
    print_bytes(file, map);
    return 0;
  });
}
