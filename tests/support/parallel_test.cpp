#include "support/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("a container's quota limits the processors", "[threads]") {
    CHECK(processors_of_quota("200000 100000", 64) == 2);
    CHECK(processors_of_quota("150000 100000", 64) == 2);
    CHECK(processors_of_quota("50000 100000", 64) == 1);
    CHECK(processors_of_quota("800000 100000", 4) == 4);
    CHECK(processors_of_quota("max 100000", 64) == 64);
    CHECK(processors_of_quota("", 64) == 64);
    CHECK(processors() >= 1);
}

TEST_CASE("a parallel loop has a part for each processor of this process, at most eight", "[threads]") {
    std::atomic<int> parts{0};
    std::atomic<std::size_t> done{0};
    in_parallel(1000, 1, [&](std::size_t first, std::size_t last) {
        ++parts;
        done += last - first;
    });
    CHECK(parts == std::min(processors(), 8));
    CHECK(done == 1000);
}
