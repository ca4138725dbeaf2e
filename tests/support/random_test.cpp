#include "support/random.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

using namespace headscope;

TEST_CASE("the numbers are the same on every machine", "[random]") {
    // Computed independently in arbitrary precision; resumed runs and sampled vocabularies depend on them.
    Random random(7, 1);
    CHECK(random.next() == 1479748441536251996U);
    CHECK(random.next() == 4524939042850068080U);
}

TEST_CASE("streams and seeds are unrelated", "[random]") {
    CHECK(Random(1, 0).next() != Random(1, 1).next());
    CHECK(Random(1, 0).next() != Random(2, 0).next());
    CHECK(Random(0, 1).next() != Random(1, 0).next());
}

TEST_CASE("every result below a bound is equally likely", "[random]") {
    Random random(3);
    std::vector<int> counts(7);
    for (int draw = 0; draw < 70'000; ++draw) {
        ++counts.at(random.below(7));
    }
    for (const int count : counts) {
        CHECK(std::abs(count - 10'000) < 500);  // five standard deviations
    }
    // A plain remainder would give the lower third of this bound half of all results.
    const std::uint64_t bound = std::uint64_t{3} << 62U;
    int low = 0;
    for (int draw = 0; draw < 3000; ++draw) {
        low += random.below(bound) < (std::uint64_t{1} << 62U) ? 1 : 0;
    }
    CHECK(std::abs(low - 1000) < 150);
    CHECK(random.below(1) == 0);
}

TEST_CASE("every order is equally likely", "[random]") {
    Random random(5);
    std::map<std::vector<int>, int> seen;
    for (int draw = 0; draw < 6000; ++draw) {
        std::vector<int> values{0, 1, 2};
        random.shuffle(values);
        ++seen[values];
    }
    CHECK(seen.size() == 6);
    for (const auto& [order, count] : seen) {
        CHECK(std::abs(count - 1000) < 150);
    }
    std::vector<int> none;
    random.shuffle(none);
    CHECK(none.empty());
}
