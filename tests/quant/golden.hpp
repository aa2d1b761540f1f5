#pragma once

#include <cstddef>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lazymoe::test {

/// A golden file of quant/ as values of T, which may be bytes.
template <class T>
std::vector<T> read_golden(const std::string& name) {
  const std::string path = std::string(LAZYMOE_GOLDEN_DIR) + "/quant/" + name;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error(path + ": cannot open");
  std::vector<T> values(static_cast<std::size_t>(file.tellg()) / sizeof(T));
  const auto bytes = std::as_writable_bytes(std::span(values));
  file.seekg(0).read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return values;
}

}  // namespace lazymoe::test
