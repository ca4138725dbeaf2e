#include "devices.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "backend/precision.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"

namespace headscope::conformance {

namespace {

std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    std::istringstream stream(list);
    for (std::string word; std::getline(stream, word, ',');) {
        if (!word.empty()) {
            words.push_back(word);
        }
    }
    return words;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

Selection select_devices(const std::vector<DeviceInfo>& devices, const std::string& only, const std::string& required) {
    const std::vector<std::string> wanted = words_of(only);
    const std::vector<std::string> needed = words_of(required);
    std::vector<std::string> backends = needed;
    Selection selection;
    for (const DeviceInfo& device : devices) {
        if (!has(backends, device.backend)) {
            backends.push_back(device.backend);
        }
    }
    for (const std::string& backend : backends) {
        std::string reason;
        bool found = false;
        for (const DeviceInfo& device : devices) {
            if (device.backend != backend) {
                continue;
            }
            const bool left_out = !wanted.empty() && !has(wanted, backend) && !has(wanted, device.id);
            if (left_out || !device.rejected.empty()) {
                reason += (reason.empty() ? "" : "; ") + device.id + ": " +
                          (left_out ? "left out by HEADSCOPE_TEST_DEVICES" : device.rejected);
                continue;
            }
            selection.ids.push_back(device.id);
            found = true;
        }
        if (!found) {
            auto& lines = has(needed, backend) ? selection.failures : selection.skipped;
            lines.push_back("no " + backend + " device: " + (reason.empty() ? "this build knows none" : reason));
        }
    }
    for (const std::string& word : wanted) {
        const bool known = std::any_of(devices.begin(), devices.end(), [&](const DeviceInfo& device) {
            return device.id == word || device.backend == word;
        });
        if (!known) {
            selection.failures.push_back("HEADSCOPE_TEST_DEVICES names \"" + word + "\", which is no device");
        }
    }
    return selection;
}

std::vector<std::string> devices_under_test() {
    static const Selection kSelection = [] {
        const Selection selection =
            select_devices(list_devices(environment_options()), environment("HEADSCOPE_TEST_DEVICES"),
                           environment("HEADSCOPE_REQUIRE_BACKENDS"));
        for (const std::string& line : selection.skipped) {
            std::fprintf(stderr, "SKIPPED: %s\n", line.c_str());
        }
        return selection;
    }();
    for (const std::string& line : kSelection.failures) {
        FAIL_CHECK(line);
    }
    return kSelection.ids;
}

bool holds_oracle() {
    return environment("HEADSCOPE_TEST_DEVICES").empty();
}

std::vector<std::string> devices_with_storage() {
    std::vector<std::string> found;
    for (const std::string& id : devices_under_test()) {
        try {
            const std::unique_ptr<Backend> device = open_device(id, environment_options());
            static_cast<void>(arithmetic_for(*device, Precision::F16, "f16"));
            found.push_back(id);
        } catch (const Error& error) {
            std::fprintf(stderr, "SKIPPED: 16-bit storage: %s\n", error.what());
        }
    }
    return found;
}

}  // namespace headscope::conformance
