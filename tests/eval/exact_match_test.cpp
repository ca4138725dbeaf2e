#include "eval/evaluation.h"

#include <catch2/catch.hpp>

#include "support/check.h"

using headscope::count_exact_matches;
using Lines = std::vector<std::string>;

TEST_CASE("exact matches compare bytes, except white space at the ends") {
    const Lines reference{"eins", " zwei\r", "drei", "", ""};
    CHECK(count_exact_matches({"eins", "zwei ", "Drei", "", " \t"}, {reference}) == 4);
    CHECK(count_exact_matches({"a  b"}, {Lines{"a b"}}) == 0);
    CHECK(count_exact_matches({""}, {Lines{"a"}}) == 0);
    CHECK(count_exact_matches({}, {Lines{}}) == 0);
}

TEST_CASE("a translation that equals any of its references counts once") {
    CHECK(count_exact_matches({"a", "b", "c"}, {Lines{"a", "x", "x"}, Lines{"a", "b", "x"}}) == 2);
}

TEST_CASE("different numbers of translations and references are rejected") {
    CHECK_THROWS_WITH(count_exact_matches({"a", "b"}, {Lines{"a", "b"}, Lines{"a"}}),
                      Catch::Matchers::Contains("2 translations") && Catch::Matchers::Contains("1 references"));
}
