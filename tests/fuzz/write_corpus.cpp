// Writes the seeds of gguf_parse_fuzz into a directory: the fixtures of the tests, whole, cut and with flipped bytes.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include "gguf/fixtures.hpp"
#include "gguf/raw_gguf.hpp"

namespace {

using namespace lazymoe;

void write(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_corpus <directory>\n";
    return 1;
  }
  const std::filesystem::path dir = argv[1];
  std::filesystem::create_directories(dir);
  const std::vector<std::vector<std::byte>> fixtures = {
      test::small_model().bytes(),
      test::many_tensors(6).bytes(),
      test::RawGguf{.version = 2, .keys = {}, .tensors = {}}
          .u32_key("general.alignment", 32)
          .key("b", 7, test::Raw().put(std::uint8_t{1}))
          .tensor("four", {2, 2, 2, 2}, 0, 64)
          .tensor("t", {32}, 8, 0)
          .bytes(),
  };
  for (std::size_t i = 0; i < fixtures.size(); ++i) {
    const std::string name = "fixture" + std::to_string(i);
    write(dir / name, fixtures[i]);
    for (std::size_t n = 7; n < fixtures[i].size(); n += 97) {
      write(dir / (name + "-cut" + std::to_string(n)), std::span(fixtures[i]).first(n));
      auto flipped = fixtures[i];
      flipped[n] ^= std::byte{0xFF};
      write(dir / (name + "-flip" + std::to_string(n)), flipped);
    }
  }
}
