// Detects a display for tests that show a window.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>

namespace headscope::test {

// Warns if there is none; fails if HEADSCOPE_REQUIRE_DISPLAY is set.
inline bool display() {
    if (std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr) {
        return true;
    }
    if (std::getenv("HEADSCOPE_REQUIRE_DISPLAY") != nullptr) {
        FAIL("there is no display, but HEADSCOPE_REQUIRE_DISPLAY is set");
    }
    WARN("SKIPPED: there is no display (use xvfb-run)");
    return false;
}

}  // namespace headscope::test
