// What attention leaves for its backward, in numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "backend/ops/attention.h"
#include "checks.h"
#include "conformance/case.h"
#include "conformance/harness.h"
#include "devices.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

// With one column each.
struct Heads {
    static constexpr std::int64_t kBatch = 3;
    static constexpr std::int64_t kHeads = 2;
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    Shape q() const { return {kBatch, kHeads, queries, 1}; }
    Shape k() const { return {kBatch, kHeads, keys, 1}; }
};

// Those small cases of attention that are `chosen`, on every software device by one of its paths.
void check_sizes_by(const std::string& path, const std::vector<std::optional<DType>>& storages,
                    const std::function<bool(const Case&)>& chosen) {
    const std::unique_ptr<Backend> oracle = open_device("cpu:oracle");
    const std::vector<Group>& groups = family_named("attention").groups;
    const auto sizes =
        std::find_if(groups.begin(), groups.end(), [](const Group& group) { return group.name == "sizes"; });
    REQUIRE(sizes != groups.end());
    std::vector<Case> cases = sizes->cases();
    std::erase_if(cases, [&](const Case& stated) { return !chosen(stated); });
    CHECK_FALSE(cases.empty());
    for (const std::string& id : devices_under_test()) {
        const std::vector<std::string> paths = open_device(id, environment_options())->device().paths;
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
            continue;  // it is the device's own choice, or there is no such form
        }
        const std::unique_ptr<Backend> device = open_device_by(path, id, environment_options());
        for (const Case& stated : cases) {
            for (const std::optional<DType> storage : storages) {
                if (!falls_to_this_process()) {
                    continue;
                }
                const Outcome outcome = Examination(*oracle, storage ? stated.stored_in(*storage) : stated).on(*device);
                CHECK(outcome.runs > 0);
                for (const std::string& complaint : outcome.complaints) {
                    FAIL_CHECK(complaint);
                }
            }
        }
    }
}

}  // namespace

// A device with native backward leaves the log of each row's sum, whichever kernel ran forward.
TEST_CASE("the log-sums that attention leaves for its backward are right", "[attention]") {
    for (const std::string& id : devices_under_test()) {
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        if (device->support(OpId::AttentionBackward, device->full_dtype()).level != SupportLevel::Native) {
            continue;
        }
        for (const Heads& size : {Heads{2, 150}, {70, 40}}) {
            INFO(id << " " << size.q().to_string());
            const auto value = [](std::int64_t index) { return static_cast<double>(index * 7 % 11) / 8.0 - 0.5; };
            Values numbers(static_cast<std::size_t>(size.k().elements() + size.q().elements()));
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                numbers[i] = value(static_cast<std::int64_t>(i));
            }
            const auto tensor = [&](const Shape& shape) {
                const Values values(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(shape.elements()));
                return make_from_host(*device, shape, device->full_dtype(), values);
            };
            const std::vector<std::int32_t> lengths{1000, 0, 1};
            const Tensor sums = device->empty({Heads::kBatch, Heads::kHeads, size.queries}, device->full_dtype());
            device->run(Attention{.q = tensor(size.q()),
                                  .k = tensor(size.k()),
                                  .v = tensor(size.k()),
                                  .out = device->empty(size.q(), device->full_dtype()),
                                  .log_sums = sums,
                                  .mask = {.key_lengths = make_from_host(*device, {3}, DType::I32, lengths)},
                                  .scale = 2.0F});
            const Values got = to_host<double>(*device, sums);
            for (std::int64_t row = 0; row < sums.elements(); ++row) {
                const std::int64_t head = row / size.queries;
                const std::int64_t keys =
                    std::min<std::int64_t>(lengths[static_cast<std::size_t>(head / Heads::kHeads)], size.keys);
                double total = 0.0;
                for (std::int64_t key = 0; key < keys; ++key) {
                    total += std::exp(2.0 * value(row) * value(head * size.keys + key));
                }
                const double expected = std::log(total);  // -inf without keys
                const double found = got[static_cast<std::size_t>(row)];
                CHECK((found == expected || std::abs(found - expected) < 1e-5));
            }
        }
    }
}

// Of a single key everything is known: the weight is 1, so a head's output is its group's value, whose gradient is the
// sum of those of the outputs.
TEST_CASE("heads of a group read and reach its values alone", "[attention][by_hand]") {
    const std::int64_t queries = GENERATE(1, 6);
    for (const std::string& id : devices_under_test()) {
        INFO(id << " " << queries);
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        const DType dtype = device->full_dtype();
        const Shape q{1, 6, queries, 1};
        const auto numbers = [&](const Shape& shape, double first) {
            Values values(static_cast<std::size_t>(shape.elements()));
            std::iota(values.begin(), values.end(), first);
            return make_from_host(*device, shape, dtype, values);
        };
        const Attention op{.q = numbers(q, 1.0),
                           .k = numbers({1, 3, 1, 1}, 1.0),
                           .v = numbers({1, 3, 1, 1}, 10.0),
                           .out = device->empty(q, dtype),
                           .log_sums = device->empty({1, 6, queries}, dtype)};
        device->run(op);
        const Tensor grad_v = device->empty({1, 3, 1, 1}, dtype);
        device->run(AttentionBackward{.q = op.q,
                                      .k = op.k,
                                      .v = op.v,
                                      .out = op.out,
                                      .grad_out = numbers(q, 0.0),
                                      .log_sums = op.log_sums,
                                      .grad_v = grad_v});
        const Values out = to_host<double>(*device, op.out);
        const Values of_values = to_host<double>(*device, grad_v);
        for (std::int64_t head = 0; head < 6; ++head) {
            for (std::int64_t i = 0; i < queries; ++i) {
                CHECK(out[static_cast<std::size_t>(head * queries + i)] == 10.0 + static_cast<double>(head / 2));
            }
        }
        for (std::int64_t group = 0; group < 3; ++group) {
            const std::int64_t first = group * 2 * queries;  // of 2 * queries consecutive numbers
            CHECK(of_values[static_cast<std::size_t>(group)] ==
                  static_cast<double>(2 * queries * first + queries * (2 * queries - 1)));
        }
    }
}

TEST_CASE("attention in the form for GPUs agrees with the oracle on software devices", "[attention]") {
    check_sizes_by("fused-attention", {std::nullopt, DType::F16}, [](const Case& /*stated*/) { return true; });
}

// Each takes llvmpipe seconds to compile: by default one forward and one backward; more steps than one, and no size
// that matrices divide.
TEST_CASE("attention by emulated matrices agrees with the oracle", "[attention]") {
    check_sizes_by("cooperative-matrix-emulated", {DType::F16}, [](const Case& stated) {
        return std::getenv("HEADSCOPE_TEST_FULL") != nullptr ||
               stated.name.find(stated.op == OpId::Attention ? "[1, 2, 81, 41]"
                                                             : "[1, 1, 15, 7] d_v [1, 1, 37, 9] window") == 0;
    });
}
