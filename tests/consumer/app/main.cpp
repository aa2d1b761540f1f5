#include <iostream>

#include <lazymoe/quant/format.hpp>
#include <lazymoe/version.hpp>

int main() {
  static_assert(lazymoe::quant::TypeId{12} == lazymoe::quant::TypeId::q4_K);
  std::cout << "lazymoe " << LAZYMOE_VERSION_MAJOR << '.' << LAZYMOE_VERSION_MINOR << '.' << LAZYMOE_VERSION_PATCH << '\n';
}
