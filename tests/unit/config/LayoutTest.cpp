// Layouts and axes of spec/plan.md section 4.
#include "ConfigHelp.h"

using namespace nnterp;

TEST_CASE("every layout has a name that leads back to it, and axes") {
  for (int i = 0; i <= int(Layout::ImageTokenMask); ++i) {
    Layout layout = Layout(i);
    INFO(name(layout));
    CHECK(layoutByName(name(layout)) == layout);
    CHECK_FALSE(axes(layout).empty());
  }
  CHECK_FALSE(layoutByName("Nothing"));
  CHECK_FALSE(layoutByName(""));
}

TEST_CASE("axes of the plan's table") {
  using Axes = std::vector<std::string>;
  CHECK(axes(Layout::Residual) == Axes{"batch", "seq", "hidden"});
  CHECK(axes(Layout::Logits) == Axes{"batch", "seq", "vocab"});
  CHECK(axes(Layout::LinearQK) == Axes{"batch", "seq", "heads", "key_dim"});
  CHECK(axes(Layout::LinearV) == Axes{"batch", "seq", "heads", "value_dim"});
  CHECK(axes(Layout::Gates) == Axes{"batch", "seq", "heads"});
  CHECK(axes(Layout::State) == Axes{"batch", "heads", "key_dim", "value_dim"});
  CHECK(axes(Layout::States) == Axes{"batch", "seq", "heads", "key_dim", "value_dim"});
  CHECK(axes(Layout::ConvState) == Axes{"batch", "channels", "window"});
  CHECK(axes(Layout::Memory) == Axes{"batch", "heads", "key", "head_dim"});
  CHECK(axes(Layout::Queries) == Axes{"batch", "heads", "seq", "head_dim"});
  CHECK(axes(Layout::Pattern) == Axes{"batch", "heads", "query", "key"});
  CHECK(axes(Layout::HeadOutputs) == Axes{"batch", "seq", "heads", "head_dim"});
  CHECK(axes(Layout::RouterLogits) == Axes{"batch", "seq", "experts"});
  CHECK(axes(Layout::ExpertIndices) == Axes{"batch", "seq", "slots"});
  CHECK(axes(Layout::ExpertOutputs) == Axes{"batch", "seq", "slots", "hidden"});
  CHECK(axes(Layout::NextTokenProbs) == Axes{"batch", "vocab"});
  CHECK(axes(Layout::SegmentPattern) == Axes{"images", "heads", "query_patch", "key_patch"});
}

TEST_CASE("token axes and places") {
  CHECK(isTokenAxis("seq"));
  CHECK(isTokenAxis("query"));
  CHECK(isTokenAxis("key"));
  CHECK_FALSE(isTokenAxis("heads"));
  CHECK_FALSE(isTokenAxis("key_dim"));
  CHECK(isPlaced(Layout::State));
  CHECK(isPlaced(Layout::ConvState));
  CHECK(isPlaced(Layout::Memory));
  CHECK_FALSE(isPlaced(Layout::States));
  CHECK_FALSE(isPlaced(Layout::Keys));
}
