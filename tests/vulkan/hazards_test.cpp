#include <array>
#include <catch2/catch.hpp>

#include "backends/vulkan/stream/hazards.h"

using headscope::vulkan::Access;
using headscope::vulkan::Hazards;

TEST_CASE("a barrier is needed exactly if an overlapping access writes", "[vulkan][hazards]") {
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
