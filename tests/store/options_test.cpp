#include <lazymoe/store/options.hpp>

#include "support/catch.hpp"

namespace lazymoe::store {

TEST_CASE("Unless told otherwise a store keeps everything and compares nothing", "[store]") {
  const StoreOptions options;
  CHECK(options.budget.amount == ~std::uint64_t{0});
  CHECK(options.checksums == nullptr);
  CHECK(options.io_threads > 0);
}

}  // namespace lazymoe::store
