#include "support/duration.h"

#include <catch2/catch.hpp>

using namespace headscope;

TEST_CASE("durations have the unit that people would choose", "[duration]") {
    CHECK(duration_text(0.4) == "24 s");
    CHECK(duration_text(12.3) == "12 min");
    CHECK(duration_text(90.0) == "1.5 h");
    CHECK(duration_text(535788.0) == "372 days");
}
