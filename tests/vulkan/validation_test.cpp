// Requests to the validation layer, in its various versions, and the handling of its messages.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/vulkan/vulkan_backend.h"
#include "environment.h"
#include "fake_loader.h"

using namespace headscope;
using headscope::vulkan_tests::Environment;
using headscope::vulkan_tests::FakeLoader;

namespace {

constexpr std::uint32_t kPassesSettings = VK_MAKE_API_VERSION(0, 1, 3, 272);

// A driver with the layer, or without it if null.
class Validated {
public:
    explicit Validated(const FakeLayer* layer, std::uint32_t loader_version = kPassesSettings,
                       const char* lacks = nullptr)
        : fake_({.devices = 1, .opens = true, .lacks = lacks, .loader_version = loader_version, .layer = layer}) {}
    void run() const { open_vulkan_device(0)->synchronize(); }
    const std::vector<std::string>& asked() const { return fake_->asked_of_layer; }

private:
    FakeLoader fake_;
    Environment validation_{"HEADSCOPE_VULKAN_VALIDATION", "1"};
};

bool has(const std::vector<std::string>& list, const std::string& entry) {
    return std::find(list.begin(), list.end(), entry) != list.end();
}

}  // namespace

TEST_CASE("a layer with settings is asked to check everything about synchronisation", "[vulkan][validation]") {
    const FakeLayer layer;
    const Validated device(&layer);
    device.run();
    CHECK(has(device.asked(), "extension VK_EXT_debug_utils"));
    CHECK(has(device.asked(), "extension VK_EXT_layer_settings"));
    CHECK(has(device.asked(), "setting validate_sync=1"));
    CHECK(has(device.asked(), "setting syncval_shader_accesses_heuristic=1"));
    CHECK(has(device.asked(), "messenger"));
    CHECK(device.asked().size() == 6);  // the last: that drivers in part are known
}

TEST_CASE("an older layer, and a newer one with an older loader, gets the structure that both know",
          "[vulkan][validation]") {
    const bool older_layer = GENERATE(true, false);
    const FakeLayer layer{.takes_settings = !older_layer};
    const Validated device(&layer, older_layer ? kPassesSettings : kPassesSettings - 1);
    device.run();
    CHECK(has(device.asked(), "extension VK_EXT_debug_utils"));
    CHECK(has(device.asked(), "extension VK_EXT_validation_features"));
    CHECK(
        has(device.asked(), "feature " + std::to_string(VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT)));
    CHECK(has(device.asked(), "messenger"));
    CHECK(device.asked().size() == 5);
}

TEST_CASE("messages of the layer are errors, unless they are about how it was enabled", "[vulkan][validation]") {
    SECTION("of a setting that it does not know") {
        const FakeLayer layer{.says = {{"VALIDATION-SETTINGS", "another setting does not exist"}}};
        Validated(&layer).run();
    }
    SECTION("of one that was asked for, and so has not") {
        const FakeLayer layer{.says = {{"VALIDATION-SETTINGS", "syncval_shader_accesses_heuristic does not exist"}}};
        CHECK_THROWS_WITH(Validated(&layer).run(), Catch::Contains("heuristic does not exist"));
    }
    SECTION("of what is done") {
        const FakeLayer layer{.says = {{"VALIDATION-SETTINGS", "another setting does not exist"},
                                       {"SYNC-HAZARD-READ-AFTER-WRITE", "a hazard"},
                                       {nullptr, "another"}}};
        CHECK_THROWS_WITH(Validated(&layer).run(),
                          "the Vulkan validation layer reported 2 message(s), the first: a hazard");
    }
    SECTION("without an identifier") {
        const FakeLayer layer{.says = {{nullptr, "something is wrong"}}};
        CHECK_THROWS_WITH(Validated(&layer).run(), Catch::Contains("1 message(s), the first: something is wrong"));
    }
}

TEST_CASE("validation that is not available is an error", "[vulkan][validation]") {
    CHECK_THROWS_WITH(Validated(nullptr).run(), Catch::Contains("install vulkan-validationlayers"));
    const FakeLayer layer;
    CHECK_THROWS_WITH(Validated(&layer, kPassesSettings, "vkCreateDebugUtilsMessengerEXT").run(),
                      Catch::Contains("VK_EXT_debug_utils"));
}
