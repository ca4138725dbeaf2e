// What a service does about devices that are lost.
#include <algorithm>
#include <catch2/catch.hpp>

#include "crew.h"
#include "infer/fresh_device.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;

// One that hangs.
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

// One device that hangs after so many products, and so does each that is opened in its place, which leaves nothing of
// the one before.
struct Hanging {
    explicit Hanging(std::vector<int> lasts) : lasts_(std::move(lasts)) { open(); }
    const Translator* open() {
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
    std::size_t opened_again() const { return opened_ - 1; }

    std::vector<std::string> warnings;

private:
    const std::vector<int> lasts_;  // the last of them for all that follow
    std::size_t opened_ = 0;
    Crew crew_;
};

constexpr int kForEver = 1000000;
const std::string kGoesOn = "gpu was opened again and goes on: the device hung";

}  // namespace

TEST_CASE("a device that was lost is opened again", "[service]") {
    Hanging gpu({30, kForEver});
    const Service service = gpu.service();
    CHECK(texts(service) == expected());
    CHECK(texts(service) == expected());
    CHECK(service.shares()[0].failure.empty());
    CHECK(gpu.opened_again() == 1);
    CHECK(gpu.warnings == std::vector<std::string>{kGoesOn});
}

TEST_CASE("a device that does some work between its losses is opened again each time, within bounds", "[service]") {
    const int all = products_of_all_lines();
    Hanging gpu({all / 3});
    const Service service = gpu.service();
    CHECK(texts(service) == expected());
    CHECK(service.shares()[0].failure.empty());
    CHECK(service.shares()[0].sentences == sentences_with_words());
    CHECK(gpu.opened_again() >= 2);
    CHECK(gpu.warnings == std::vector<std::string>(gpu.opened_again(), kGoesOn));
    CHECK_THROWS_AS(
        [&] {
            for (int window = 0; window <= SecondChance::kMost; ++window) {
                static_cast<void>(texts(service));
            }
        }(),
        DeviceLost);
    CHECK(gpu.opened_again() == SecondChance::kMost);
}

TEST_CASE("a device that is lost twice at the same batch is given up", "[service]") {
    Hanging gpu({0});
    const Service service = gpu.service();
    CHECK_THROWS_AS(texts(service), DeviceLost);
    CHECK(service.shares()[0].failure == "the device hung");
    CHECK(gpu.opened_again() == 1);
    CHECK(gpu.warnings == std::vector<std::string>{kGoesOn});
}

TEST_CASE("a lost device that cannot be opened again says both", "[service]") {
    Crew crew;
    crew.add(std::make_unique<LosingBackend>(open_device("cpu"), 30));
    const Service service({{.name = "gpu",
                            .translator = crew.translators[0].get(),
                            .reopen = []() -> const Translator* { throw Error("it is gone for good"); }}},
                          [](const std::string& /*message*/) {});
    CHECK_THROWS_WITH(texts(service), Contains("the device hung; opened again: it is gone for good"));
}
