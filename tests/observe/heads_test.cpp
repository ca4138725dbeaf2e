// Clicks on swatches.
#include <catch2/catch.hpp>

#include "observe/head_selection.h"
#include "support/check.h"

using namespace headscope;

namespace {

using Heads = std::vector<int>;

}  // namespace

TEST_CASE("A click toggles, but never the last head", "[heads]") {
    HeadSelection heads(3);
    heads.click(2);
    CHECK(heads.active() == Heads{1, 3});
    heads.click(2);
    CHECK(heads.active() == Heads{1, 2, 3});
    heads.click(1);
    heads.click(2);
    heads.click(3);
    CHECK(heads.active() == Heads{3});
    CHECK_THROWS_AS(heads.click(0), CheckFailure);
    CHECK_THROWS_AS(heads.click(4), CheckFailure);
}

TEST_CASE("A double click isolates a head, and restores all if it is the only one", "[heads]") {
    HeadSelection heads(4);
    heads.double_click(3);
    CHECK(heads.active() == Heads{3});
    heads.double_click(2);
    CHECK(heads.active() == Heads{2});
    heads.double_click(2);
    CHECK(heads.active() == Heads{1, 2, 3, 4});
}
