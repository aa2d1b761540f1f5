#pragma once

#include <cstddef>
#include <cstdint>
#include <lazymoe/gguf/writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lazymoe::test {

/// A small valid file with every kind of value and two packed tensors.
inline gguf::Writer small_model() {
  gguf::Writer writer;
  writer.set("general.architecture", "olmoe");
  writer.set("general.alignment", std::uint32_t{64});
  writer.set("u8", std::uint8_t{1});
  writer.set("i64", std::int64_t{-5});
  writer.set("f32", 0.25F);
  writer.set("f64", 0.125);
  writer.set("bool", true);
  writer.set("strings", std::vector<std::string>{"a", "", "bc"});
  writer.set("numbers", std::vector<std::int32_t>{1, -2, 3});
  writer.set("bools", std::vector<bool>{true, false});
  writer.set("empty", std::vector<float>{});
  writer.add_tensor("a.weight", {64, 2}, quant::TypeId::q8_0, std::vector<std::byte>(2 * 2 * 34, std::byte{1}));
  writer.add_tensor("b.weight", {3}, quant::TypeId::f32, std::vector<std::byte>(12, std::byte{2}));
  return writer;
}

/// `n` tensors of one float each: "t0", "t1", ...
inline gguf::Writer many_tensors(int n) {
  gguf::Writer writer;
  writer.set("general.architecture", "olmoe");
  for (int i = 0; i < n; ++i) {
    writer.add_tensor("t" + std::to_string(i), {1}, quant::TypeId::f32,
                      std::vector<std::byte>(4, static_cast<std::byte>(i)));
  }
  return writer;
}

}  // namespace lazymoe::test
