// The icon's files match what the program draws. HEADSCOPE_UPDATE_GOLDENS rewrites them.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "io/atomic_file.h"
#include "paint/png.h"
#include "paint/svg.h"
#include "tests/figures/layout_checks.h"
#include "tests/io/temporary_folder.h"
#include "viewer/panels/icon.h"

using namespace headscope;
using namespace headscope::viewer;

TEST_CASE("The icon is drawn completely, and its files are up to date", "[icon]") {
    test::check_layout(draw_icon(256.0));
    test::check_layout(draw_icon(16.0));
    const Bitmap bitmap = rasterise(draw_icon(256.0));
    REQUIRE(bitmap.width == 256);
    REQUIRE(bitmap.height == 256);
    CHECK(bitmap.rgba[3] == 0);  // nothing behind the corners
    CHECK(bitmap.rgba[(128 * 256 + 128) * 4 + 3] == 255);
    const std::string folder = HEADSCOPE_SOURCE_DIR "/viewer/desktop/org.headscope.Headscope";
    for (const auto& [file, bytes] :
         {std::pair{folder + ".svg", to_svg(draw_icon(256.0))}, std::pair{folder + ".png", to_png(bitmap)}}) {
        if (std::getenv("HEADSCOPE_UPDATE_GOLDENS") != nullptr) {
            atomic_write_file(file, bytes);
        }
        INFO(file);
        CHECK((read_all(file) == bytes));
    }
}
