#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include <lazymoe/gguf/metadata.hpp>

namespace lazymoe::test {

[[nodiscard]] inline gguf::Value u32(std::uint32_t number) { return number; }

/// The hyper-parameters of a file, named without the architecture that all their names begin with.
class ConfigKeys {
 public:
  ConfigKeys(const std::string& architecture, std::initializer_list<std::pair<const std::string, gguf::Value>> own)
      : prefix_(architecture + ".") {
    keys_.emplace("general.architecture", architecture);
    for (const auto& [name, value] : own) keys_.emplace(prefix_ + name, value);
  }

  /// One more, or another value.
  [[nodiscard]] ConfigKeys with(const std::string& name, gguf::Value value) const {
    ConfigKeys keys = *this;
    keys.keys_.insert_or_assign(prefix_ + name, std::move(value));
    return keys;
  }
  [[nodiscard]] ConfigKeys without(const std::string& name) const {
    ConfigKeys keys = *this;
    keys.keys_.erase(prefix_ + name);
    return keys;
  }

  [[nodiscard]] gguf::Metadata metadata() const {
    gguf::Metadata metadata("m.gguf");
    for (const auto& [name, value] : keys_) metadata.insert(name, value);
    return metadata;
  }

  /// By their whole names.
  [[nodiscard]] const std::map<std::string, gguf::Value>& all() const { return keys_; }

 private:
  std::string prefix_;
  std::map<std::string, gguf::Value> keys_;
};

}  // namespace lazymoe::test
