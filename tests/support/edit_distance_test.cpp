#include "support/edit_distance.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("the distance of two texts counts insertions, deletions and exchanges", "[edit_distance]") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("steps", "steps") == 0);
    CHECK(edit_distance("stepz", "steps") == 1);
    CHECK(edit_distance("haeds", "heads") == 2);
    CHECK(edit_distance("kitten", "sitting") == 3);
}
