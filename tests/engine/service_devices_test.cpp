#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "backend/ops/matmul.h"
#include "crew.h"
#include "tests/house/open_options.h"
#include "tests/ops/devices.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;

// A slow device.
class SlowBackend final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;
    using ForwardingBackend::run;
    void run(const Matmul& op) override {
        std::this_thread::sleep_for(std::chrono::milliseconds(8));
        ForwardingBackend::run(op);
    }
};

}  // namespace

TEST_CASE("several devices return every line once and in order", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    for (const std::string& id : conformance::devices_under_test()) {
        std::unique_ptr<Backend> device = open_device(id, environment_options());
        if (device->device().backend == "cuda" && device->device().software) {
            WARN("SKIPPED: the emulated CUDA device, which is one thread's");
            continue;
        }
        crew.add(std::move(device));
        crew.add(open_device(id, environment_options()));
    }
    const Team service = crew.team();
    CHECK(texts(service.lines()) == expected());
    CHECK(texts(service.lines()) == expected());  // another window
    CHECK(crew.warnings.empty());
    CHECK(sentences_of(service.uses()) == 2 * sentences_with_words());
}

TEST_CASE("devices that lend read a model once, and the others borrow its weights", "[service]") {
    Crew crew;
    for (int i = 0; i < 3; ++i) {
        crew.add(open_device("cpu"));
    }
    std::atomic<int> loads = 0;
    const LoadModel load = [&](Backend& backend, const WeightStorage& storage) {
        ++loads;
        return load_tiny(backend, storage);
    };
    const Team service = crew.team(load);
    CHECK(texts(service.lines()) == expected());
    CHECK(loads == 1);
}

TEST_CASE("several devices work at the same time", "[service]") {
    // Neither continues before the other has begun.
    Gate first;
    Gate second;
    Crew crew;
    crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &second, &first));
    crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &first, &second));
    const Team service = crew.team();
    CHECK(texts(service.lines()) == expected());
    CHECK(crew.warnings.empty());
    for (const DeviceUse& share : service.uses()) {
        CHECK(share.failure.empty());
        CHECK(share.batches > 0);
    }
}

TEST_CASE("no line is lost when a device fails", "[service]") {
    const int all = products_of_all_lines();
    for (const int products : {0, 1, all / 4, all / 2}) {
        INFO(products << " products");
        Gate failed;  // keeps the other device at its first batch, so that this one gets the work
        Crew crew;
        crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &failed, nullptr));
        crew.add(std::make_unique<DyingBackend>(open_device("cpu"), products, &failed));
        const Team service = crew.team();
        CHECK(texts(service.lines()) == expected());
        CHECK(texts(service.lines()) == expected());
        const std::vector<DeviceUse> shares = service.uses();
        CHECK(shares[0].failure.empty());
        CHECK(sentences_of(shares) == 2 * sentences_with_words());
        CHECK(shares[1].failure == "the device is gone");
        CHECK((shares[1].batches > 0) == (products > 1));
        REQUIRE(crew.warnings.size() == 1);
        CHECK(crew.warnings[0] == "device 1 failed; the other devices take over its work: the device is gone");
    }
}

TEST_CASE("a much slower device gets little more than the work that reveals its speed", "[service]") {
    Crew crew;
    crew.add(std::make_unique<SlowBackend>(open_device("cpu")));
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    for (int window = 0; window < 4; ++window) {
        CHECK(texts(service.lines()) == expected());
    }
    const std::vector<DeviceUse> shares = service.uses();
    CHECK(4 * sentences_of({shares[0]}) < sentences_of(shares));
    CHECK(sentences_of(shares) == 4 * sentences_with_words());
}

TEST_CASE("a model that only the slower device holds gets answers from it", "[service]") {
    Crew crew;
    crew.add(std::make_unique<SlowBackend>(open_device("cpu")));
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    const auto both_have_worked = [&] {
        return std::ranges::all_of(service.uses(), [](const DeviceUse& use) { return use.source_tokens > 0; });
    };
    for (int window = 0; window < 20 && !both_have_worked(); ++window) {
        static_cast<void>(texts(service.lines()));
    }
    REQUIRE(both_have_worked());
    const ModelHandle rare = service.engine->open([](Backend& backend, const WeightStorage& storage) {
        if (backend.device().id == "device 1") {
            throw Error("no memory for it");
        }
        return load_tiny(backend, storage);
    });
    Ticket<TextRequest> answer = service.engine->submit(rare, TextRequest{.line = {.text = "the dog"}, .options = {}});
    REQUIRE(answer.wait_for(std::chrono::seconds(20)));
    CHECK(answer.get().problem.empty());
}

TEST_CASE("results of a partly failed attempt are not duplicated", "[service]") {
    const auto cpu = open_device("cpu");
    const LoadedModel translator = tiny_translator(*cpu);
    const DecodingOptions options{.search = {.beam = 3, .n_best = 3}};
    TranslationWork work(translator.model(), {{.text = "the dog"}}, options, 64, TranslationWork::Order::SoonestFirst);
    finish(*translator.begin(work.units_of(0), options));
    finish(*translator.begin(work.units_of(0), options));
    work.done(0);
    CHECK(work.next().at(0).n_best.size() == 3);
}

TEST_CASE("a single device's failure is passed on unchanged", "[service]") {
    Crew crew;
    crew.add(std::make_unique<DyingBackend>(open_device("cpu"), 30));
    const Team service = crew.team();
    CHECK_THROWS_WITH(texts(service.lines()), "the device is gone");
    CHECK(crew.warnings.empty());
    CHECK_THROWS_WITH(texts(service.lines()), "the device is gone");
}

TEST_CASE("if no device is left, the last failure is reported", "[service]") {
    Crew crew;
    crew.add(std::make_unique<DyingBackend>(open_device("cpu"), 30));
    crew.add(std::make_unique<DyingBackend>(open_device("cpu"), 60));
    const Team service = crew.team();
    CHECK_THROWS_WITH(texts(service.lines()), Contains("no device is left") && Contains("the device is gone"));
    CHECK(crew.warnings.size() == 1);
}

TEST_CASE("an exception of the sink stops the translation", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    const auto stop = [](const std::vector<TextResult>& next, std::size_t) {
        if (!next.empty()) {
            throw std::runtime_error("enough");
        }
    };
    CHECK_THROWS_WITH(service.lines().translate_in_order(many_lines(), {}, stop), "enough");
    CHECK(texts(service.lines()) == expected());  // the service still works
}

TEST_CASE("no lines need no work", "[service]") {
    Crew crew;
    crew.add(open_device("cpu"));
    int calls = 0;
    crew.team().lines().translate_in_order({}, {}, [&](const std::vector<TextResult>& next, std::size_t finished) {
        ++calls;
        CHECK(next.empty());
        CHECK(finished == 0);
    });
    CHECK(calls == 1);
}
