#include <lazymoe/text/segment.hpp>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::text {

TEST_CASE("segments join to the prompt", "[text][segment]") {
  CHECK(joined(std::vector<Segment>{{"<s>", true}, {"hi", false}, {"</s>", true}}) == "<s>hi</s>");
  CHECK(joined({}).empty());
}

}  // namespace lazymoe::text
