// Every switch is parsed and documented from one list.
#include "backends/vulkan/device/switches.h"

#include <catch2/catch.hpp>
#include <string>

#include "environment.h"
#include "io/whole_file.h"
#include "support/check.h"
#include "tests/house/files.h"

using namespace headscope;
using vulkan::Switch;

namespace {

// The rows of docs/environment.md, made from the list.
std::string documented() {
    std::string variables;
    std::string words;
    for (const Switch& each : vulkan::switches()) {
        const std::string path =
            *each.path == '\0' ? "" : std::string("`") + each.path + (each.path_takes_value() ? "N`" : "`");
        const std::string meaning = " | " + std::string(each.meaning) + " | " + path + " |\n";
        if (each.is_variable()) {
            variables += std::string("| `") + each.name + "` | " + each.value + meaning;
        } else if (each.is_word()) {
            words += std::string("| `") + each.name + "`" + meaning;
        }
    }
    return "| variable | value | meaning | path |\n|---|---|---|---|\n" + variables +
           "\n`HEADSCOPE_VULKAN_DISABLE` is a comma-separated list of features to disable:\n\n"
           "| word | what | path |\n|---|---|---|\n" +
           words;
}

}  // namespace

TEST_CASE("docs/environment.md has every switch", "[vulkan][switches]") {
    const std::string rows = documented();
    INFO(rows);
    const std::string file = checkout_file("docs/environment.md");
    CHECK(read_whole_file(file, file).find(rows) != std::string::npos);
}

TEST_CASE("an invalid value is an error that lists the valid ones", "[vulkan][switches]") {
    for (const Switch& each : vulkan::switches()) {
        if (!each.is_variable()) {
            continue;
        }
        INFO(each.name);
        CHECK(*each.value != '\0');
        for (const char* wrong : {"some", "1 ", "-1"}) {
            OpenOptions options;
            options.settings.set(each.name, wrong);
            CHECK_THROWS_WITH(vulkan::Options::from(options),
                              std::string(each.name) + " is \"" + wrong + "\"; expected " + each.value);
        }
    }
}

TEST_CASE("a word is a switch, and an unknown one is an error that lists them", "[vulkan][switches]") {
    OpenOptions options;
    options.settings.set("HEADSCOPE_VULKAN_DISABLE", "replays,fused_attention");
    CHECK_FALSE(vulkan::Options::from(options).replays);
    CHECK(vulkan::Options::from(options).fused_attention == vulkan::FusedAttention::Never);
    options.settings.set("HEADSCOPE_VULKAN_DISABLE", "replays,large-tiles");
    CHECK_THROWS_WITH(
        vulkan::Options::from(options),
        Catch::Contains("names \"large-tiles\"; expected words out of ") && Catch::Contains("timestamps"));
}

TEST_CASE("a path sets its switch", "[vulkan][switches]") {
    const vulkan::Options plain;
    CHECK_FALSE(with_path(plain, "no-vector-loads", 16).vector_loads);
    CHECK(with_path(plain, "subgroups-of-8", 16).subgroup_size == 8);
    CHECK(with_path(plain, "no-shared-tiles", 16).tiles == vulkan::ProductTiles::None);
    CHECK(with_path(plain, "one-subgroup-a-row", 16).row_lanes == 16);
    CHECK(with_path(plain, "several-subgroups-a-row", 16).row_lanes == 128);
    CHECK(with_path(plain, "several-subgroups-a-row", 64).row_lanes == 256);
    CHECK(with_path(plain, "half-conversions", 16).half_conversions == vulkan::HalfConversions::Always);
    CHECK(with_path(plain, "no-half-conversions", 16).half_conversions == vulkan::HalfConversions::Never);
    CHECK_FALSE(with_path(plain, "large-tiles", 16).tuning);
    CHECK(with_path(plain, "", 16).tuning);
    CHECK_THROWS_AS(with_path(plain, "sideways", 16), CheckFailure);
}
