#include <cstdint>
#include <lazymoe/quant/formats/grids.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/sha256.hpp"

using namespace lazymoe::quant;

static_assert(even_signs(0) == 0 && even_signs(0b0000001) == 0b10000001 && even_signs(0b1000010) == 0b1000010);
static_assert(four_bytes(std::array<std::uint8_t, 4>{1, 2, 3, 0xF4}) == 0xF4030201);
static_assert(grid_value(iq2_xxs_grid[1], 0) == 43 && grid_value(iq2_xxs_grid[1], 1) == 8);  // word 0x0002
static_assert(grid_value(iq1_grid[0], 7) == -1 && grid_value(iq3_xxs_grid[1], 0) == 20);

namespace {

template <class Grid>
std::string digest(const Grid& grid) {
  std::vector<std::uint8_t> bytes;
  for (const auto entry : grid) {
    for (std::size_t e = 0; e < sizeof(entry); ++e) bytes.push_back(static_cast<std::uint8_t>(grid_value(entry, e)));
  }
  return lazymoe::test::sha256(bytes);
}

}  // namespace

TEST_CASE("the digest of the tests is SHA-256", "[support]") {
  CHECK(lazymoe::test::sha256({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(lazymoe::test::sha256({'a', 'b', 'c'}) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("the grids are those of the reference, by their digests", "[quant][grids]") {
  CHECK(digest(iq2_xxs_grid) == "05826b5d3e472a3a78f196be62ac78acf81df0f909626e12ab9fa2a5d490dd54");
  CHECK(digest(iq2_xs_grid) == "06e47aaca60b4dc1d9b5a3f34540437058a6b142b4d7a59d5ded769b4d1bf1de");
  CHECK(digest(iq2_s_grid) == "e1aa1473412b0552c2174c30ef22ab4073f6a181b85a17056e8249bd2932fd88");
  CHECK(digest(iq3_xxs_grid) == "46e35f5a997efdee6c99ce57854c8a0d4f0ff8ca57e5e8a60c0793ea580acf5d");
  CHECK(digest(iq3_s_grid) == "bd1af4945a1717c65610b0284e4628b9a1ba3b306fae3a06f6e5f597356e349f");
  CHECK(digest(iq1_grid) == "07540ffc1aeaf6ad4d97e96b0fcc765aae39671d4ae4a27bbd0e796fde167c6a");
}
