// Lets a test run on tests/fake_vulkan.
#pragma once

#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <utility>

#include "environment.h"
#include "tests/fake_vulkan/fake_vulkan.h"
#include "tests/house/files.h"
#include "tests/io/temporary_folder.h"

namespace headscope::vulkan_tests {

// While it lives, "libvulkan.so.1" is the fake: the dynamic linker reuses a library loaded under that name (its
// DT_SONAME).
class FakeLoader {
public:
    explicit FakeLoader(FakeVulkan state) {
        REQUIRE(dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NOLOAD) == nullptr);
        const std::string file = built_file("HEADSCOPE_FAKE_VULKAN", HEADSCOPE_FAKE_VULKAN);
        library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        INFO(file);
        REQUIRE(library_ != nullptr);
        using Get = FakeVulkan* (*)();
        state_ = reinterpret_cast<Get>(dlsym(library_, "fake_vulkan"))();
        *state_ = std::move(state);
    }
    FakeLoader(const FakeLoader&) = delete;
    FakeLoader& operator=(const FakeLoader&) = delete;
    ~FakeLoader() {
        CHECK(state_->instances_live == 0);
        CHECK(state_->devices_live == 0);
        dlclose(library_);
    }
    FakeVulkan* operator->() const { return state_; }

private:
    static std::string disabled_and(const std::string& name) {
        const char* before = std::getenv("HEADSCOPE_VULKAN_DISABLE");
        return before == nullptr || *before == '\0' ? name : std::string(before) + "," + name;
    }

    // It has the layer only if a test asks for it.
    Environment validation_{"HEADSCOPE_VULKAN_VALIDATION", "0"};
    Environment device_{"HEADSCOPE_DEVICE", ""};
    // The fake computes nothing, so its trials would fail.
    Environment no_trial_{"HEADSCOPE_VULKAN_DISABLE", disabled_and("trials")};
    // The fake's survival must not count for real drivers.
    TemporaryFolder caches_;
    Environment cache_{"XDG_CACHE_HOME", caches_.file("")};
    void* library_ = nullptr;
    FakeVulkan* state_ = nullptr;
};

}  // namespace headscope::vulkan_tests
