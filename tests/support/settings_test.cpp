#include "support/settings.h"

#include <catch2/catch.hpp>

#include "support/check.h"

using namespace headscope;

TEST_CASE("a switch is on or off, and any other value is an error", "[settings]") {
    const Settings none;
    CHECK_FALSE(none.has("SWITCH"));
    CHECK(none.get("SWITCH").empty());
    CHECK_FALSE(none.on("SWITCH"));
    CHECK(none.on("SWITCH", true));
    const auto with = [](const char* value) {
        Settings settings;
        settings.set("SWITCH", value);
        return settings;
    };
    const Settings empty = with("");
    CHECK(empty.has("SWITCH"));
    CHECK(empty.on("SWITCH", true));
    CHECK_FALSE(with("0").on("SWITCH", true));
    CHECK(with("1").on("SWITCH"));
    for (const char* wrong : {"off", "no", "2", "true"}) {
        CHECK_THROWS_WITH(with(wrong).on("SWITCH"), std::string("SWITCH is \"") + wrong + "\"; expected 1 or 0");
    }
}
