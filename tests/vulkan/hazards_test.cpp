#include <array>
#include <catch2/catch.hpp>

#include "backends/vulkan/hazards.h"

using headscope::vulkan::Access;
using headscope::vulkan::Hazards;
using headscope::vulkan::writes_what_it_reads;

TEST_CASE("a barrier is due exactly where an overlapping access writes", "[vulkan][hazards]") {
    Hazards hazards;
    const std::array<Access, 2> first{Access{0, 0, 100, false}, Access{0, 100, 200, true}};
    hazards.add(first);
    const auto conflicts = [&](const Access& access) { return hazards.conflict({&access, 1}); };
    CHECK_FALSE(conflicts({0, 0, 100, false}));   // read after read
    CHECK(conflicts({0, 99, 100, true}));         // write after read
    CHECK(conflicts({0, 199, 300, false}));       // read after write
    CHECK(conflicts({0, 100, 101, true}));        // write after write
    CHECK_FALSE(conflicts({0, 200, 300, true}));  // beside it
    CHECK_FALSE(conflicts({1, 0, 200, true}));    // another block
    hazards.clear();
    CHECK_FALSE(conflicts({0, 0, 300, true}));
}

TEST_CASE("a launch in place is one that reads bytes which it writes", "[vulkan][hazards]") {
    const Access read{0, 0, 100, false};
    CHECK_FALSE(writes_what_it_reads({}));
    CHECK_FALSE(writes_what_it_reads(std::array{read, Access{0, 50, 150, false}}));  // both read
    CHECK_FALSE(writes_what_it_reads(std::array{read, Access{0, 100, 200, true}}));  // beside it
    CHECK_FALSE(writes_what_it_reads(std::array{read, Access{1, 0, 100, true}}));    // another block
    CHECK_FALSE(writes_what_it_reads(std::array{Access{0, 0, 100, true}, Access{0, 0, 100, true}}));
    CHECK(writes_what_it_reads(std::array{read, Access{0, 99, 200, true}}));
    CHECK(writes_what_it_reads(std::array{Access{0, 0, 1, true}, read}));
}
