// Attention of long sentences: its memory grows with the length, not with its square.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backend/ops/attention.h"
#include "backend/ops/elementwise.h"
#include "checks.h"
#include "conformance/harness.h"
#include "devices.h"
#include "long_lengths.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

// The most bytes of tensors at once of a forward and backward, operands included. Heads of 64 columns fill a GPU's
// registers.
double peak_of(const std::string& id, std::int64_t length, std::int64_t depth = 64, std::int64_t window = 0) {
    const std::unique_ptr<Backend> device = open_device(id, environment_options());
    const Shape shape{1, 1, length, depth};
    const auto filled = [&](float value) {
        const Tensor tensor = device->empty(shape, device->full_dtype());
        device->run(Fill{.out = tensor, .value = value});
        return tensor;
    };
    const Attention forward{.q = filled(0.5F),
                            .k = filled(0.25F),
                            .v = filled(1.5F),
                            .out = filled(0.0F),
                            .log_sums = device->empty({1, 1, length}, device->full_dtype()),
                            .mask = {.causal = true, .window = window},
                            .scale = 0.125F};
    device->run(forward);
    const AttentionBackward backward{.q = forward.q,
                                     .k = forward.k,
                                     .v = forward.v,
                                     .out = forward.out,
                                     .grad_out = filled(1.0F),
                                     .log_sums = forward.log_sums,
                                     .grad_q = filled(0.0F),
                                     .grad_k = filled(0.0F),
                                     .grad_v = filled(0.0F),
                                     .mask = forward.mask,
                                     .scale = forward.scale};
    device->run(backward);
    // All keys are alike, and so are all values.
    const std::vector<double> out = to_host<double>(*device, forward.out);
    CHECK(*std::min_element(out.begin(), out.end()) == Approx(1.5).margin(1e-3));
    CHECK(*std::max_element(out.begin(), out.end()) == Approx(1.5).margin(1e-3));
    return static_cast<double>(device->memory().peak);
}

}  // namespace

TEST_CASE("the memory of attention grows with the length of long sentences", "[attention][long]") {
    for (const std::string& id : devices_under_test()) {
        const std::int64_t length = long_length_on(id);
        const double growth = growth_of(peak_of(id, kFewTokens), peak_of(id, length), peak_of(id, 2 * length));
        INFO(id << ": " << growth);
        CHECK(growth > kLeastGrowth);
        CHECK(growth < kMostGrowth);
    }
}

// In a window; with HEADSCOPE_TEST_FULL on every device, and on the CPU, which alone is fast enough, of all pairs.
TEST_CASE("attention of 65,535 positions takes memory that grows with the length", "[attention][long]") {
    constexpr std::int64_t kMost = 65535;
    constexpr std::int64_t kDepth = 8;
    const bool full = std::getenv("HEADSCOPE_TEST_FULL") != nullptr;
    for (const std::string& id : devices_under_test()) {
        if (id != "cpu" && !full) {
            continue;
        }
        const std::int64_t window = id == "cpu" && full ? 0 : 16;
        const double growth = growth_of(peak_of(id, kFewTokens, kDepth, window), peak_of(id, kMost / 2, kDepth, window),
                                        peak_of(id, kMost, kDepth, window));
        INFO(id << ": " << growth);
        CHECK(growth > kLeastGrowth);
        CHECK(growth < kMostGrowth);
    }
}

// Other devices run these cases in conform --full: they have no form of their own for long sentences.
TEST_CASE("the CPU's attention of long sentences agrees with the oracle", "[attention][long]") {
    const std::vector<std::string> ids = devices_under_test();
    if (std::find(ids.begin(), ids.end(), "cpu") == ids.end()) {
        return;
    }
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const std::unique_ptr<Backend> cpu = open_device("cpu", environment_options());
    const std::vector<Group>& groups = family_named("attention").groups;
    const auto group =
        std::find_if(groups.begin(), groups.end(), [](const Group& each) { return each.name == "long"; });
    REQUIRE(group != groups.end());
    for (const Case& stated : group->cases()) {
        for (const std::string& complaint : Examination(*oracle, stated).on(*cpu).complaints) {
            FAIL_CHECK(complaint);
        }
    }
}
