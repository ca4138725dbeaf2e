// The check of results before they are timed.
#include "conformance/judge.h"

#include <catch2/catch.hpp>

#include "backend/forwarding_backend.h"
#include "backend/ops/matmul.h"
#include "conformance/cases/product.h"
#include "devices.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

// Products with the wrong sign.
class Turned final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        Matmul turned = op;
        turned.alpha = -op.alpha;
        inner().run(turned);
    }
};

// More than the oracle computes in a second or two.
Case large_product() {
    Case stated = matmul({{}, 512, 1024, 640, false, true});
    stated.arithmetic = 2.0 * 512 * 1024 * 640;
    return stated;
}

}  // namespace

TEST_CASE("a case that is slow for the oracle is compared with the CPU, in 16-bit storage too", "[judge]") {
    for (const std::string& id : devices_under_test()) {
        std::unique_ptr<Backend> device = open_device(id, environment_options());
        std::vector<Case> cases{large_product()};
        for (const DType storage : storages_of(*device, cases[0])) {
            cases.push_back(cases[0].stored_in(storage));
        }
        Judge judge;
        for (const Case& stated : cases) {
            INFO(id << ": " << stated.title());
            if (device->device().backend == "cpu") {
                CHECK_FALSE(judge.can_judge(*device, stated));
                continue;
            }
            REQUIRE(judge.can_judge(*device, stated));
            const Verdict right = judge.verdict(*device, stated);
            CHECK(right.reference == "cpu");
            CHECK(right.outcome.runs == 1);
            CHECK(right.outcome.complaints.empty());
            Turned wrong(open_device(id, environment_options()));
            CHECK(judge.verdict(wrong, stated).outcome.complaints.size() == 1);
        }
    }
}

TEST_CASE("a case that is fast for the oracle is compared with it", "[judge]") {
    const std::unique_ptr<Backend> device = open_device("cpu");
    Judge judge;
    Case small = matmul({{}, 8, 9, 10});
    small.arithmetic = 2.0 * 8 * 9 * 10;
    CHECK(judge.verdict(*device, small).reference == "cpu:oracle");
}
