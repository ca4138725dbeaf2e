// How a service handles lost devices.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backend/ops/matmul.h"
#include "crew.h"
#include "infer/fresh_device.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;

// A device that hangs.
class LosingBackend final : public ForwardingBackend {
public:
    LosingBackend(std::unique_ptr<Backend> inner, int products)
        : ForwardingBackend(std::move(inner)), left_(products) {}
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        if (left_-- <= 0) {
            throw DeviceLost("the device hung");
        }
        ForwardingBackend::run(op);
    }

private:
    int left_;
};

// One device that hangs after a number of products, as does each reopened one, which keeps nothing of the previous one.
struct Hanging {
    explicit Hanging(std::vector<int> lasts) : lasts_(std::move(lasts)) { open(); }
    const LoadedModel* open() {
        const int products = lasts_.at(std::min(opened_, lasts_.size() - 1));
        ++opened_;
        crew_.translators.clear();
        crew_.backends.clear();
        crew_.add(std::make_unique<LosingBackend>(open_device("cpu"), products));
        return crew_.translators[0].get();
    }
    Service service() {
        return {{{.name = "gpu", .translator = crew_.translators[0].get(), .reopen = [this] { return open(); }}},
                [this](const std::string& message) { warnings.push_back(message); }};
    }
    std::size_t reopened() const { return opened_ - 1; }

    std::vector<std::string> warnings;

private:
    const std::vector<int> lasts_;  // the last entry repeats
    std::size_t opened_ = 0;
    Crew crew_;
};

constexpr int kForEver = 1000000;
const std::string kReopened = "reopened gpu after a failure: the device hung";

}  // namespace

TEST_CASE("a lost device is reopened", "[service]") {
    Hanging gpu({30, kForEver});
    const Service service = gpu.service();
    CHECK(texts(service) == expected());
    CHECK(texts(service) == expected());
    CHECK(service.shares()[0].failure.empty());
    CHECK(gpu.reopened() == 1);
    CHECK(gpu.warnings == std::vector<std::string>{kReopened});
}

TEST_CASE("a device that does some work between its losses is reopened each time, within bounds", "[service]") {
    const int all = products_of_all_lines();
    Hanging gpu({all / 3});
    const Service service = gpu.service();
    CHECK(texts(service) == expected());
    CHECK(service.shares()[0].failure.empty());
    CHECK(service.shares()[0].sentences == sentences_with_words());
    CHECK(gpu.reopened() >= 2);
    CHECK(gpu.warnings == std::vector<std::string>(gpu.reopened(), kReopened));
    CHECK_THROWS_AS(
        [&] {
            for (int window = 0; window <= SecondChance::kMost; ++window) {
                static_cast<void>(texts(service));
            }
        }(),
        DeviceLost);
    CHECK(gpu.reopened() == SecondChance::kMost);
}

TEST_CASE("a device that is lost at everything is given up", "[service]") {
    Hanging gpu({0});
    const Service service = gpu.service();
    CHECK_THROWS_AS(texts(service), DeviceLost);
    CHECK(service.shares()[0].failure == "the device hung");
    CHECK(gpu.reopened() == 2);  // for the batch, and to see whether it does anything else
    CHECK(gpu.warnings == std::vector<std::string>(2, kReopened));
}

TEST_CASE("if a lost device cannot be reopened, both errors are reported", "[service]") {
    Crew crew;
    crew.add(std::make_unique<LosingBackend>(open_device("cpu"), 30));
    const Service service({{.name = "gpu",
                            .translator = crew.translators[0].get(),
                            .reopen = []() -> const LoadedModel* { throw Error("it is gone for good"); }}},
                          [](const std::string& /*message*/) {});
    CHECK_THROWS_WITH(texts(service), Contains("the device hung; reopening failed: it is gone for good"));
}
