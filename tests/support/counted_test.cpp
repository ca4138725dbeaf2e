#include "support/counted.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>

using headscope::counted;

TEST_CASE("the noun of a count is singular for 1", "[support]") {
    CHECK(counted(1, "line") == "1 line");
    CHECK(counted(std::size_t{0}, "line") == "0 lines");
    CHECK(counted(std::int64_t{1'000'000}, "target token") == "1000000 target tokens");
    CHECK(counted(2, "batch", "batches") == "2 batches");
    CHECK(counted(1, "batch", "batches") == "1 batch");
}
