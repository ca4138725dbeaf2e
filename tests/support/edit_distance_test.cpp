#include "support/edit_distance.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("the distance of two texts counts insertions, deletions and substitutions", "[edit_distance]") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("steps", "steps") == 0);
    CHECK(edit_distance("stepz", "steps") == 1);
    CHECK(edit_distance("haeds", "heads") == 2);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("nearest() returns the closest name, or nothing if all are far", "[edit_distance]") {
    const std::vector<std::string> names{"translate", "train", "tune"};
    CHECK(nearest("trian", names) == "train");
    CHECK(nearest("trainslate", names) == "translate");
    CHECK(nearest("tunes", names) == "tune");
    CHECK(nearest("help", names).empty());
    CHECK(nearest("", names).empty());
    CHECK(nearest("train", {}).empty());
}
