#include "support/environment.h"

#include <catch2/catch.hpp>

#include "support/check.h"
#include "tests/house/environment.h"

using namespace headscope;

TEST_CASE("a switch is on or off, and anything else is told", "[environment]") {
    constexpr const char* kName = "HEADSCOPE_TEST_SWITCH";
    CHECK(environment(kName).empty());
    CHECK_FALSE(environment_switch(kName));
    for (const char* off : {"", "0"}) {
        const Environment set(kName, off);
        CHECK_FALSE(environment_switch(kName));
    }
    {
        const Environment set(kName, "1");
        CHECK(environment_switch(kName));
    }
    for (const char* wrong : {"off", "no", "2", "true"}) {
        const Environment set(kName, wrong);
        CHECK(environment(kName) == wrong);
        CHECK_THROWS_WITH(environment_switch(kName),
                          Catch::Contains(kName) && Catch::Contains(wrong) && Catch::Contains("expected 1 or 0"));
    }
}
