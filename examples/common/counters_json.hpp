#pragma once

#include <string>

#include <lazymoe/instrument/counters.hpp>
#include <nlohmann/json.hpp>

namespace examples {

/// Sets a field of `line` for each counter.
inline void add_counters(nlohmann::ordered_json& line, const lazymoe::instrument::StoreCounters& counters) {
  for (const auto& [name, field] : lazymoe::instrument::counter_fields) line[std::string(name)] = counters.*field;
}

}  // namespace examples
