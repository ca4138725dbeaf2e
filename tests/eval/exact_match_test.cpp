#include "eval/exact_match.h"

#include <catch2/catch.hpp>

#include "support/check.h"

using headscope::count_exact_matches;

TEST_CASE("exact matches are counted byte by byte, but for white space at the ends") {
    CHECK(count_exact_matches({"eins", "zwei ", "Drei", "", " \t"}, {"eins", " zwei\r", "drei", "", ""}) == 4);
    CHECK(count_exact_matches({"a  b"}, {"a b"}) == 0);
    CHECK(count_exact_matches({""}, {"a"}) == 0);
    CHECK(count_exact_matches({}, {}) == 0);
}

TEST_CASE("as many translations as references") {
    CHECK_THROWS_WITH(count_exact_matches({"a", "b"}, {"a"}),
                      Catch::Matchers::Contains("2 translations and 1 references"));
}
