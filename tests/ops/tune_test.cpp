// Ways to compute a product, compared with the oracle and timed.
#include "conformance/tune.h"

#include <catch2/catch.hpp>
#include <map>

#include "backend/forwarding_backend.h"
#include "backend/ops/matmul.h"
#include "conformance/cases/catalogue.h"
#include "registry/registry.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Catch::Matchers::Contains;

// The CPU with several ways, of which "wrong" computes another product.
class ManyWays final : public ForwardingBackend, public ProductWays {
public:
    explicit ManyWays(std::vector<std::string> ways) : ForwardingBackend(open_device("cpu")), names(std::move(ways)) {}

    ProductWays* product_ways() override { return this; }
    void force(const std::string& way) override { forced = way; }
    std::vector<std::string> ways() const override { return names; }
    bool keep(const std::string& way, double seconds) override {
        kept[way] = seconds;
        return writes;
    }
    std::string why_not_saved() const override { return refuses; }

    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        const std::string& way = forced.empty() ? names.front() : forced;
        Matmul changed = op;
        changed.alpha = way == "wrong" ? 1.5F * op.alpha : op.alpha;
        inner().run(changed);
    }

    std::vector<std::string> names;
    std::string forced = "not yet";
    std::map<std::string, double> kept;
    bool writes = true;
    std::string refuses{};
};

// Two sentences of a tiny model, with a clock that knows which way is slow.
TunePlan plan(const ManyWays& device) {
    return {.work = {.sentences = 2,
                     .length = 3,
                     .d_model = 16,
                     .d_ff = 32,
                     .heads = 2,
                     .vocabulary = 40,
                     .sides = {48},
                     .every_product = true},
            .repeat = 3,
            .progress = {},
            .seconds = [&device](const TimedCase&) { return device.forced == "slow" ? 2.0 : 1.0; }};
}

}  // namespace

TEST_CASE("the fastest way replaces the device's choice", "[tune]") {
    ManyWays device({"slow", "plain"});
    const std::vector<ProductTuned> found = tune_products(device, plan(device), matmul_cases::family());
    REQUIRE(found.size() > 10);
    CHECK(found.front().shape == "48x48x48 nn");
    for (const ProductTuned& product : found) {
        INFO(product.shape);
        CHECK(product.kept == "plain");
        CHECK(product.on_disk);
        REQUIRE(product.ways.size() == 2);
        CHECK(product.ways[0].seconds == 2.0);
    }
    CHECK(device.kept.count("plain") == 1);
    CHECK(device.kept.count("slow") == 0);
    CHECK(device.forced.empty());
}

TEST_CASE("a way with wrong results is never chosen, however fast", "[tune]") {
    ManyWays device({"slow", "wrong"});
    for (const ProductTuned& product : tune_products(device, plan(device), matmul_cases::family())) {
        INFO(product.shape);
        CHECK(product.kept == "slow");
        CHECK(product.ways[0].complaint.empty());
        CHECK_THAT(product.ways[1].complaint, Contains("expected"));
        CHECK(product.ways[1].seconds == 0.0);
    }
    ManyWays broken({"wrong", "wrong"});
    for (const ProductTuned& product : tune_products(broken, plan(broken), matmul_cases::family())) {
        CHECK(product.kept.empty());
    }
    CHECK(broken.kept.empty());
}

TEST_CASE("nothing is measured if it cannot be saved", "[tune]") {
    ManyWays device({"plain", "slow"});
    device.refuses = "unset it";
    CHECK_THROWS_WITH(tune_products(device, plan(device), matmul_cases::family()), "unset it");
    CHECK(device.forced == "not yet");
}

TEST_CASE("a failure to save is reported", "[tune]") {
    ManyWays device({"plain", "slow"});
    device.writes = false;
    const std::vector<ProductTuned> found = tune_products(device, plan(device), matmul_cases::family());
    CHECK(found.front().kept == "plain");
    CHECK_FALSE(found.front().on_disk);
}

TEST_CASE("a product with only one way is not timed", "[tune]") {
    ManyWays device({"plain"});
    const std::vector<ProductTuned> found = tune_products(device, plan(device), matmul_cases::family());
    CHECK(found.front().ways.empty());
    CHECK(found.front().left_out == "there is one way, plain");
    CHECK(found.front().kept.empty());
    CHECK(device.kept.empty());
    // Nor is one without a reference.
    ManyWays two({"plain", "wrong"});
    TunePlan large = plan(two);
    large.work.sides = {5000};
    CHECK_THAT(tune_products(two, large, matmul_cases::family()).front().left_out, Contains("too large"));
    CHECK_THROWS_WITH(tune_products(*open_device("cpu"), plan(device), matmul_cases::family()),
                      Contains("one way to compute a product") && Contains("--device vulkan"));
}
