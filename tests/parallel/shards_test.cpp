#include <catch2/catch.hpp>

#include <algorithm>

#include "parallel/shards.h"

using namespace headscope;

TEST_CASE("ranks own all shards, contiguous and nearly as many each", "[shards]") {
    for (int shards = 1; shards <= kMostShards; shards *= 2) {
        for (int ranks = 1; ranks <= shards; ++ranks) {
            int next = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const ShardRange range = shards_of(rank, ranks, shards);
                CHECK(range.first == next);
                CHECK(range.count() >= shards / ranks);
                CHECK(range.count() <= shards / ranks + 1);
                next = range.end;
            }
            CHECK(next == shards);
        }
    }
}

TEST_CASE("a range of shards has few subtrees, which cover it", "[shards]") {
    CHECK(subtrees_of({0, 8}) == std::vector<Subtree>{{0, 8}});
    CHECK(subtrees_of({2, 5}) == std::vector<Subtree>{{2, 2}, {4, 1}});
    CHECK(subtrees_of({5, 8}) == std::vector<Subtree>{{5, 1}, {6, 2}});
    CHECK(subtrees_of({1, 7}) == std::vector<Subtree>{{1, 1}, {2, 2}, {4, 2}, {6, 1}});
    CHECK(Subtree{2, 1}.joins({3, 1}));
    CHECK_FALSE(Subtree{1, 1}.joins({2, 1}));
    CHECK_FALSE(Subtree{0, 2}.joins({2, 1}));
}

TEST_CASE("a step is cut into groups of nearly equal size", "[shards]") {
    const std::vector<std::int64_t> equal(12, 5);
    CHECK(cut_evenly(equal, 4) == std::vector<std::size_t>{0, 3, 6, 9, 12});
    CHECK(cut_evenly(equal, 1) == std::vector<std::size_t>{0, 12});
    CHECK(cut_evenly(std::vector<std::int64_t>{9, 1, 1, 1}, 2) == std::vector<std::size_t>{0, 1, 4});
    CHECK(cut_evenly(std::vector<std::int64_t>{7, 7}, 4) == std::vector<std::size_t>{0, 0, 1, 1, 2});
    CHECK(cut_evenly({}, 2) == std::vector<std::size_t>{0, 0, 0});
    std::vector<std::int64_t> growing;
    for (std::int64_t i = 1; i <= 100; ++i) {
        growing.push_back(i);
    }
    const std::vector<std::size_t> cuts = cut_evenly(growing, 8);
    for (std::size_t group = 0; group < 8; ++group) {
        std::int64_t size = 0;
        for (std::size_t i = cuts[group]; i < cuts[group + 1]; ++i) {
            size += growing[i];
        }
        CHECK(std::abs(size - 5050 / 8) < 100);
    }
}

TEST_CASE("the default is the next power of two", "[shards]") {
    CHECK(shards_for(1) == 1);
    CHECK(shards_for(3) == 4);
    CHECK(shards_for(4) == 4);
}
