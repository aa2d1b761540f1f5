#include <lazymoe/text/detail/prompt_writer.hpp>

#include "support/catch.hpp"

namespace lazymoe::text::detail {

TEST_CASE("A prompt keeps apart what the template wrote and what others said", "[text][chat]") {
  PromptWriter prompt;
  prompt.own("<a>").own("").own("<b>").said("hello <a>").said(" there").own("<c>").said("");
  CHECK(prompt.take() == std::vector<Segment>{{"<a><b>", true}, {"hello <a> there", false}, {"<c>", true}});
}

TEST_CASE("A prompt of nothing has no segments", "[text][chat]") {
  PromptWriter prompt;
  prompt.own("").said("");
  CHECK(prompt.take().empty());
}

}  // namespace lazymoe::text::detail
