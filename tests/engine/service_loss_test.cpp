// How a service handles lost devices.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>

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

// One device that hangs after a number of products, as does each reopened one.
struct Hanging {
    explicit Hanging(std::vector<int> lasts) : lasts_(std::move(lasts)) {
        crew_.add(Crew::Open([this] {
            const int products = lasts_.at(std::min(opened_, lasts_.size() - 1));
            ++opened_;
            return std::make_unique<LosingBackend>(open_device("cpu"), products);
        }));
    }
    Team team() { return crew_.team(); }
    std::size_t reopened() const { return opened_ - 1; }
    const std::vector<std::string>& warnings() const { return crew_.warnings; }

private:
    const std::vector<int> lasts_;  // the last entry repeats
    std::size_t opened_ = 0;
    Crew crew_;
};

constexpr int kForEver = 1000000;
const std::string kReopened = "reopened device 0 after a failure: the device hung";

}  // namespace

TEST_CASE("a lost device is reopened", "[service]") {
    Hanging gpu({30, kForEver});
    const Team service = gpu.team();
    CHECK(texts(service.lines()) == expected());
    CHECK(texts(service.lines()) == expected());
    CHECK(service.uses()[0].failure.empty());
    CHECK(gpu.reopened() == 1);
    CHECK(gpu.warnings() == std::vector<std::string>{kReopened});
}

TEST_CASE("a device that does some work between its losses is reopened each time, within bounds", "[service]") {
    const int all = products_of_all_lines();
    Hanging gpu({all / 3});
    const Team service = gpu.team();
    CHECK(texts(service.lines()) == expected());
    CHECK(service.uses()[0].failure.empty());
    CHECK(service.uses()[0].sentences == sentences_with_words());
    CHECK(gpu.reopened() >= 2);
    CHECK(gpu.warnings() == std::vector<std::string>(gpu.reopened(), kReopened));
    CHECK_THROWS_AS(
        [&] {
            for (int window = 0; window <= SecondChance::kMost; ++window) {
                static_cast<void>(texts(service.lines()));
            }
        }(),
        DeviceLost);
    CHECK(gpu.reopened() == SecondChance::kMost);
}

TEST_CASE("a device that is lost at everything is given up", "[service]") {
    Hanging gpu({0});
    const Team service = gpu.team();
    CHECK_THROWS_AS(texts(service.lines()), DeviceLost);
    CHECK(service.uses()[0].failure == "the device hung");
    CHECK(gpu.reopened() == 2);  // for the batch, and to see whether it does anything else
    CHECK(gpu.warnings() == std::vector<std::string>(2, kReopened));
}

TEST_CASE("if a lost device cannot be reopened, both errors are reported", "[service]") {
    Crew crew;
    crew.add(std::make_unique<LosingBackend>(open_device("cpu"), 30));
    const Team service = crew.team();
    CHECK_THROWS_WITH(texts(service.lines()), Contains("the device hung; reopening failed: it is gone for good"));
}

TEST_CASE("a device that is lost by reading a model and cannot be reopened is given up", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    CHECK_THROWS_WITH(service.engine->open([](Backend&, const WeightStorage&) -> std::unique_ptr<const LoadedModel> {
        throw DeviceLost("the device hung");
    }),
                      Contains("it is gone for good"));
    CHECK_THAT(service.uses()[0].failure, Contains("it is gone for good"));
    Ticket<TextRequest> answer = service.submit(TextRequest{.line = {.text = "the dog"}, .options = {}});
    REQUIRE(answer.wait_for(std::chrono::seconds(20)));
    CHECK_THROWS_WITH(answer.get(), Contains("it is gone for good"));
}

TEST_CASE("a reopened device that cannot read a model again is given up", "[service]") {
    Hanging gpu({30, kForEver});
    const Team service = gpu.team();
    const ModelHandle vanishing =
        service.engine->open([times = 0](Backend& backend, const WeightStorage& storage) mutable {
            if (times++ > 0) {
                throw Error("the file has vanished");
            }
            return load_tiny(backend, storage);
        });
    CHECK_THROWS_WITH(texts(service.lines()), Contains("the file has vanished"));
    CHECK_THAT(service.uses()[0].failure, Contains("the file has vanished"));
    Ticket<TextRequest> answer =
        service.engine->submit(vanishing, TextRequest{.line = {.text = "the dog"}, .options = {}});
    REQUIRE(answer.wait_for(std::chrono::seconds(20)));
    CHECK_THROWS_WITH(answer.get(), Contains("the file has vanished"));
}
