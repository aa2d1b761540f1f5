#pragma once

#include <string>
#include <vector>

#include "quant/golden.hpp"

namespace lazymoe::test {

/// A golden file of kernels/ as values of T.
template <class T>
std::vector<T> read_kernel_golden(const std::string& name) {
  return read_golden<T>("../kernels/" + name);
}

}  // namespace lazymoe::test
