#include "checks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "conformance/cases/catalogue.h"
#include "conformance/harness.h"
#include "devices.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/open_options.h"

namespace headscope::conformance {

namespace {

// HEADSCOPE_TEST_CLOSENESS=1 prints how close results are to their bounds.
void note_closeness(const Case& stated, const Outcome& outcome) {
    static const bool kWanted = std::getenv("HEADSCOPE_TEST_CLOSENESS") != nullptr;
    if (kWanted) {
        std::fprintf(stderr, "closeness %.3f %s\n", outcome.closeness.of_bound, stated.title().c_str());
    }
}

bool wants_slow_groups() {
    static const bool kWanted = std::getenv("HEADSCOPE_TEST_FULL") != nullptr;
    return kWanted;
}

// HEADSCOPE_TEST_PART=3/14: of every fourteen cases the third, so that fourteen processes share the work.
class Share {
public:
    Share() {
        const char* const text = std::getenv("HEADSCOPE_TEST_PART");
        if (text == nullptr) {
            return;
        }
        const std::string_view all = text;
        const std::size_t slash = all.find('/');
        HEADSCOPE_CHECK(slash != std::string_view::npos, "HEADSCOPE_TEST_PART is not PART/PARTS, such as 3/14");
        part_ = number(all.substr(0, slash));
        parts_ = number(all.substr(slash + 1));
        HEADSCOPE_CHECK(part_ >= 1 && part_ <= parts_, "HEADSCOPE_TEST_PART is not one of 1/N to N/N");
    }
    bool has_next() { return next_++ % parts_ == part_ - 1; }

private:
    static std::size_t number(std::string_view text) {
        std::size_t found = 0;
        const auto [end, problem] = std::from_chars(text.begin(), text.end(), found);
        HEADSCOPE_CHECK(problem == std::errc() && end == text.end(), "HEADSCOPE_TEST_PART has no whole numbers");
        return found;
    }

    std::size_t part_ = 1;
    std::size_t parts_ = 1;
    std::size_t next_ = 0;
};

// Whether the device has what the case needs. Prints once if not natively.
bool is_supported(const Backend& device, const Case& stated, std::set<std::string>& said) {
    const Standing standing = standing_of(device, stated);
    for (const Shortfall& each : standing.shortfalls) {
        if (said.insert(each.text()).second) {
            std::fprintf(stderr, "NOT NATIVE: %s: %s\n", device.device().id.c_str(), each.text().c_str());
        }
        if (standing.owed) {
            FAIL_CHECK(each.text());
        }
    }
    return standing.level != SupportLevel::None;
}

struct Examined {
    std::unique_ptr<Backend> backend;
    std::set<std::string> said = {};
    std::set<std::string> kernels = {};
};

// Stays open from group to group with its compiled kernels, as in a program. On software devices each takes megabytes,
// so the device is reopened when it has many.
std::map<std::string, Examined>& open_devices() {
    static std::map<std::string, Examined> open;
    return open;
}

Examined& examined(const std::string& id) {
    constexpr std::size_t kMostKernels = 512;
    Examined& device = open_devices()[id];
    if (device.kernels.size() > kMostKernels) {
        device = {};
    }
    if (device.backend == nullptr) {
        device.backend = open_device(id, environment_options());
        // Before the libraries loaded for it are unloaded.
        static_cast<void>(std::atexit([] { open_devices().clear(); }));
    }
    return device;
}

// Whether the device runs the case, which may be in 16 bits.
bool takes(Examined& device, const Backend& oracle, const Case& stated) {
    if (device.backend->full_dtype() == oracle.full_dtype()) {
        return !stated.storage;
    }
    const bool known =
        !stated.storage || device.backend->support(stated.op, *stated.storage).level != SupportLevel::None;
    return known && is_supported(*device.backend, stated, device.said);
}

void check_case(const std::vector<std::string>& ids, Backend& oracle, const Case& stated) {
    Examination examination(oracle, stated);  // one for all
    for (const std::string& id : ids) {
        Examined& device = examined(id);
        if (!takes(device, oracle, stated)) {
            continue;
        }
        const Outcome outcome = examination.on(*device.backend);
        device.kernels.insert(outcome.kernels.begin(), outcome.kernels.end());
        if (outcome.lost) {
            device = {};
        }
        note_closeness(stated, outcome);
        for (const std::string& complaint : outcome.complaints) {
            FAIL_CHECK(complaint);
        }
    }
}

}  // namespace

bool falls_to_this_process() {
    static Share share;  // goes on from group to group
    return share.has_next();
}

void check_on_every_device(const std::vector<Case>& cases) {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    std::vector<std::string> ids = devices_under_test();
    if (holds_oracle()) {
        ids.insert(ids.begin(), "cpu:oracle");
    }
    std::size_t checked = 0;
    const auto check = [&](const Case& stated) {
        if (falls_to_this_process()) {
            check_case(ids, *oracle, stated);
            ++checked;
        }
    };
    for (const Case& stated : cases) {
        check(stated);
        for (const DType dtype : storages_of(stated)) {
            check(stated.stored_in(dtype));
        }
    }
    for (const std::string& id : ids) {
        SUCCEED(id + ": " + std::to_string(checked) + " cases");
    }
}

void check_gradients(const std::vector<Differentiation>& all) {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    for (const Differentiation& stated : all) {
        const GradientReport report = check_gradient(*oracle, stated);
        CHECK_FALSE(report.compared.empty());
        for (const std::string& complaint : report.complaints) {
            FAIL_CHECK(complaint);
        }
        // Every other real input has a gradient, except rules.
        for (const Operand& operand : stated.forward.operands) {
            if (operand.role == Role::In && !operand.dtype && !stated.given.contains(operand.name) &&
                report.compared.count(operand.name) == 0) {
                FAIL_CHECK(stated.title() + ": no gradient of " + operand.name);
            }
        }
    }
}

const Family& family_named(const std::string& name) {
    const std::vector<Family>& all = catalogue();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Family& family) { return family.name == name; });
    HEADSCOPE_CHECK(found != all.end(), "the catalogue has no family " + name);
    return *found;
}

void check_cases_of(const std::string& family) {
    for (const Group& group : family_named(family).groups) {
        if (group.is_left_out() && !(group.is_slow && wants_slow_groups())) {
            continue;  // headscope conform --full runs them
        }
        DYNAMIC_SECTION(group.name << ": " << group.says) {
            const std::vector<Case> cases = group.cases();
            REQUIRE_FALSE(cases.empty());
            check_on_every_device(cases);
        }
    }
}

void check_gradients_of(const std::string& family) {
    const std::vector<Differentiation> all = family_named(family).differentiations();
    REQUIRE_FALSE(all.empty());
    check_gradients(all);
}

}  // namespace headscope::conformance
