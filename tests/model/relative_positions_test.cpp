// T5's buckets of distances.
#include "model/relative_positions.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

using namespace headscope;

namespace {

// Each bucket with the first distance that is in it.
using Buckets = std::vector<std::pair<int, int>>;

Buckets begins(std::int64_t buckets, std::int64_t distance, bool both_ways) {
    ModelConfig config;
    config.positions.relative.buckets = buckets;
    config.positions.relative.distance = distance;
    Buckets found;
    const std::vector<std::int32_t> all = distance_buckets(config, both_ways);
    REQUIRE(std::ssize(all) == 2 * distance + 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 0 || all[i] != all[i - 1]) {
            found.emplace_back(static_cast<int>(i) - static_cast<int>(distance), all[i]);
        }
    }
    return found;
}

}  // namespace

TEST_CASE("distances are in the buckets of T5Attention._relative_position_bucket in transformers 5.24") {
    CHECK(begins(32, 128, true) == Buckets{{-128, 15}, {-90, 14}, {-63, 13}, {-45, 12}, {-31, 11}, {-22, 10}, {-15, 9},
                                           {-11, 8},   {-7, 7},   {-6, 6},   {-5, 5},   {-4, 4},   {-3, 3},   {-2, 2},
                                           {-1, 1},    {0, 0},    {1, 17},   {2, 18},   {3, 19},   {4, 20},   {5, 21},
                                           {6, 22},    {7, 23},   {8, 24},   {12, 25},  {16, 26},  {23, 27},  {32, 28},
                                           {46, 29},   {64, 30},  {91, 31}});
    CHECK(begins(32, 128, false) ==
          Buckets{{-128, 31}, {-112, 30}, {-98, 29}, {-86, 28}, {-76, 27}, {-66, 26}, {-58, 25}, {-51, 24},
                  {-45, 23},  {-39, 22},  {-34, 21}, {-30, 20}, {-26, 19}, {-23, 18}, {-20, 17}, {-18, 16},
                  {-15, 15},  {-14, 14},  {-13, 13}, {-12, 12}, {-11, 11}, {-10, 10}, {-9, 9},   {-8, 8},
                  {-7, 7},    {-6, 6},    {-5, 5},   {-4, 4},   {-3, 3},   {-2, 2},   {-1, 1},   {0, 0}});
    CHECK(begins(9, 20, true) == Buckets{{-20, 3}, {-6, 2}, {-1, 1}, {0, 0}, {1, 5}, {2, 6}, {7, 7}});
}
