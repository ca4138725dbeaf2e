#include "options/progress.h"

#include <string>
#include <string_view>
#include <utility>

#include <catch2/catch.hpp>

using namespace headscope;

namespace {

// What progress writes, by a clock that stands still between steps.
struct Written {
    std::string text = {};
    double now = 100.0;

    ProgressScreen screen(bool is_terminal, bool quiet = false) {
        return {.write = [this](std::string_view more) { text += more; },
                .seconds = [this] { return now; },
                .is_terminal = is_terminal,
                .quiet = quiet,
                .columns = 40};
    }
    // What was written since the last call.
    std::string taken() { return std::exchange(text, ""); }
};

const std::string kRow = "\r\x1b[K";

}  // namespace

TEST_CASE("progress on a terminal is a line that is rewritten", "[progress]") {
    Written written;
    {
        ProgressMeter progress("line", 400, written.screen(true));
        CHECK(written.taken().empty());
        progress.done(0);
        CHECK(written.taken() == kRow + "0 of 400 lines (0 %)");
        written.now += 0.1;
        progress.done(1);
        CHECK(written.taken().empty());  // too soon
        written.now += 9.9;
        progress.add(99);
        CHECK(written.taken() == kRow + std::string("100 of 400 lines (25 %), 10.0 lines/s, 30 s left").substr(0, 40));
    }
    CHECK(written.taken() == kRow);
}

TEST_CASE("progress elsewhere is a line a minute", "[progress]") {
    Written written;
    {
        ProgressMeter progress("sentence", 1000, written.screen(false));
        for (int second = 1; second <= 150; ++second) {
            written.now += 1.0;
            progress.done(second);
        }
        CHECK(written.taken() ==
              "headscope: 60 of 1000 sentences (6 %), 1.0 sentences/s, 16 min left\n"
              "headscope: 120 of 1000 sentences (12 %), 1.0 sentences/s, 15 min left\n");
        progress.clear();
    }
    CHECK(written.taken().empty());
}

TEST_CASE("progress without a total has no share and no time left", "[progress]") {
    Written written;
    ProgressMeter progress("document", 0, written.screen(false));
    written.now += 120.0;
    progress.done(6);
    CHECK(written.taken() == "headscope: 6 documents, 0.05 documents/s\n");
}

TEST_CASE("a terminal shows each step that begins, in whole characters", "[progress]") {
    Written written;
    ProgressMeter progress("group", 9, written.screen(true));
    progress.done(0, "matmul of halves, \u00d7 halves");
    CHECK(written.taken() == kRow + "0 of 9 groups (0 %): matmul of halves, ");
    progress.done(1, "next");
    CHECK(written.taken() == kRow + "1 of 9 groups (11 %): next");
    progress.clear();
    CHECK(written.taken() == kRow);
    progress.clear();
    CHECK(written.taken().empty());
}

TEST_CASE("a step elsewhere is named with its minute", "[progress]") {
    Written written;
    ProgressMeter progress("step", 0, written.screen(false));
    progress.step("first");
    written.now += 60.0;
    progress.step("second");
    CHECK(written.taken() == "headscope: 1 step, 0.02 steps/s: second\n");
}

TEST_CASE("--quiet shows no progress", "[progress]") {
    Written written;
    for (const bool is_terminal : {false, true}) {
        ProgressMeter progress("line", 2, written.screen(is_terminal, true));
        written.now += 100.0;
        progress.done(1, "one");
    }
    CHECK(written.taken().empty());
}
