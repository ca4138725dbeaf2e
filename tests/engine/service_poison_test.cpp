// One bad request ends with its own error, and harms neither the others nor the devices.
#include <atomic>
#include <catch2/catch.hpp>
#include <limits>
#include <thread>

#include "backend/instrumented.h"
#include "poison.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;

TranslationRequest poisonous() {
    return request_for(kPoisonous);
}

void check_unharmed(const Service& service, const Crew& crew) {
    for (const Service::Share& share : service.shares()) {
        CHECK(share.failure.empty());
    }
    CHECK(crew.warnings.empty());
    Service::Answer after = service.submit(request_for("the cat sees"));
    CHECK(after.result.get().problem.empty());
}

void check_one_failure_each(const Answers& answers) {
    CHECK(answers.wrong == 0);
    CHECK(answers.right > 100);
    CHECK(answers.failed > 20);
    CHECK(answers.survived == 0);
}

Crew crew_of(std::size_t devices, const std::function<std::unique_ptr<Backend>()>& open) {
    Crew crew;
    for (std::size_t device = 0; device < devices; ++device) {
        crew.add(open());
    }
    return crew;
}

// A service whose device waits at its first request, so that others pile up and are merged.
struct Held {
    Gate reached;
    Gate let_go;
    Crew crew;
    Service service;
    Service::Answer first;
    Held() : service(open()), first(service.submit(request_for("a dog"))) { REQUIRE(reached.wait()); }
    explicit Held(const ServiceOptions& options) : service(open(options)), first(service.submit(request_for("a dog"))) {
        REQUIRE(reached.wait());
    }

private:
    Service open(const ServiceOptions& options = {}) {
        crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &let_go, &reached));
        return {{{.name = "held", .translator = crew.translators[0].get()}}, [](const std::string&) {}, options};
    }
};

}  // namespace

TEST_CASE("a request that a device cannot do fails alone", "[service]") {
    for (const std::size_t devices : {std::size_t{1}, std::size_t{2}}) {
        for (const DeviceFault& fault : device_faults()) {
            INFO(fault.name << " on " << devices << " devices");
            Crew crew =
                crew_of(devices, [&] { return std::make_unique<PoisonedBackend>(open_device("cpu"), fault.fail); });
            const Service service = crew.service();
            check_one_failure_each(answers_of(service, poisonous));
            check_unharmed(service, crew);
        }
    }
}

TEST_CASE("a request whose callback throws fails alone", "[service]") {
    for (const std::size_t devices : {std::size_t{1}, std::size_t{2}}) {
        for (const BadCallback& callback : bad_callbacks()) {
            INFO(callback.name << " on " << devices << " devices");
            Crew crew = crew_of(devices, [] { return open_device("cpu"); });
            const Service service = crew.service();
            check_one_failure_each(answers_of(service, [&] {
                TranslationRequest poisoned = request_for("the cat sees");
                callback.set(poisoned);
                return poisoned;
            }));
            check_unharmed(service, crew);
        }
    }
}

TEST_CASE("a failed request has the exception that it caused", "[service]") {
    Crew crew;
    crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw OutOfMemory("no memory for this"); }));
    const Service service = crew.service();
    CHECK_THROWS_AS(service.submit(poisonous()).result.get(), OutOfMemory);
    TranslationRequest throwing = request_for("the cat");
    throwing.on_text = [](const std::string&) { throw std::out_of_range("a bug of the caller"); };
    CHECK_THROWS_AS(service.submit(std::move(throwing)).result.get(), std::out_of_range);
    check_unharmed(service, crew);
}

TEST_CASE("each request of a failed batch is tried alone once", "[service]") {
    Crew crew;
    crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw Error("no"); }));
    const auto& backend = dynamic_cast<const PoisonedBackend&>(*crew.backends[0]);
    const Service service = crew.service();
    const std::vector<SourceLine> lines{{.text = "the cat"}, {.text = kPoisonous}, {.text = "a dog sleeps"}};
    std::vector<TranslatedSentence> found;
    service.translate_in_order(lines, {.search = {}}, [&](std::vector<TranslatedSentence> next, std::size_t) {
        found.insert(found.end(), next.begin(), next.end());
    });
    REQUIRE(found.size() == 3);
    CHECK(found[0].problem.empty());
    CHECK(found[1].problem == "no");
    CHECK(found[2].problem.empty());
    CHECK(backend.failures() == 2);  // together and alone
    check_unharmed(service, crew);
}

TEST_CASE("a text of which nothing can be translated is an error, not a list of problems", "[service]") {
    Crew crew;
    crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw Error("no"); }));
    const Service service = crew.service();
    const std::vector<SourceLine> lines(20, {.text = kPoisonous});
    CHECK_THROWS_WITH(service.translate_in_order(lines, {}, [](const auto&, std::size_t) {}), "no");
    check_unharmed(service, crew);
}

TEST_CASE("a request that is too large for one device is translated by another", "[service]") {
    Crew crew;
    crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw OutOfMemory("no memory for this"); }));
    crew.add(open_device("cpu"));
    const Service service = crew.service();
    for (int i = 0; i < 20; ++i) {  // either device may take one first
        CHECK(service.submit(poisonous()).result.get().problem.empty());
    }
    check_unharmed(service, crew);
}

namespace {

// Loses the device, and is opened again.
struct Losing {
    const Translator* open() {
        ++opened;
        crew.translators.clear();
        crew.backends.clear();
        crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw DeviceLost("the device hung"); }));
        return crew.translators[0].get();
    }
    Service::Member member(const std::string& name) {
        return {.name = name, .translator = open(), .reopen = [this] { return open(); }};
    }
    int opened = 0;
    Crew crew;
};

}  // namespace

TEST_CASE("requests that lose the device each time end alone, however many come", "[service]") {
    Losing gpu;
    const Service service({gpu.member("gpu")}, [](const std::string&) {});
    CHECK(service.submit(request_for("the cat sees")).result.get().problem.empty());
    constexpr int kRequests = 2 * SecondChance::kMost;
    for (int i = 0; i < kRequests; ++i) {
        Service::Answer healthy = service.submit(request_for("the dog sees the cat"));
        Service::Answer poisoned = service.submit(poisonous());
        CHECK_THROWS_AS(poisoned.result.get(), DeviceLost);
        CHECK(healthy.result.get().problem.empty());
    }
    CHECK(service.shares()[0].failure.empty());
}

TEST_CASE("a request that loses two devices is not given to a third", "[service]") {
    std::vector<Losing> gpus(2);
    Crew steady;
    Gate failed;  // keeps the third from taking the request first
    steady.add(std::make_unique<GatedBackend>(open_device("cpu"), &failed, nullptr));
    const Service service({gpus[0].member("gpu 0"),
                           gpus[1].member("gpu 1"),
                           {.name = "steady", .translator = steady.translators[0].get()}},
                          [&](const std::string&) {});
    Service::Answer kept = service.submit(request_for("the cat"));
    Service::Answer poisoned = service.submit(poisonous());
    failed.open();
    try {
        static_cast<void>(poisoned.result.get());
    } catch (const DeviceLost&) {
    }
    CHECK(kept.result.get().problem.empty());
    CHECK(service.submit(request_for("the dog")).result.get().problem.empty());
    CHECK(service.shares()[2].failure.empty());
}

TEST_CASE("weights that are not numbers give each request a problem and end nothing", "[service]") {
    for (const bool scans : {false, true}) {
        INFO((scans ? "the device scans for NaN" : "no scan"));
        Crew crew;
        crew.add(std::make_unique<Instrumented>(open_device("cpu"), InstrumentOptions{.scan_for_nan = scans}));
        const Tensor& weights = crew.translators[0]->parameters().flat_values();
        from_host(
            *crew.backends[0], weights,
            std::vector<float>(static_cast<std::size_t>(weights.elements()), std::numeric_limits<float>::quiet_NaN()));
        const Service service = crew.service();
        for (int i = 0; i < 3; ++i) {
            Service::Answer answer = service.submit(request_for("the cat"));
            if (scans) {
                CHECK_THROWS_WITH(answer.result.get(), Contains("NaN"));
            } else {
                CHECK(!answer.result.get().problem.empty());
            }
        }
        CHECK(service.shares()[0].failure.empty());
        CHECK(crew.warnings.empty());
    }
}

TEST_CASE("an observer sees its own request only", "[service]") {
    const std::string text = "the cat sees";
    const auto uniform = [](Backend& backend, const AttentionView& view) {
        const std::vector<float> same(static_cast<std::size_t>(view.weights.elements()),
                                      1.0F / static_cast<float>(view.weights.dim(3)));
        return make_from_host<float>(backend, view.weights.shape, view.weights.dtype, same);
    };
    Held held;
    const std::string wanted = [&] {
        const std::unique_ptr<Backend> cpu = open_device("cpu");
        return tiny_translator(*cpu).translate_line(text, request_for(text).options).text;
    }();
    WatchingObserver observer(uniform);
    std::vector<Service::Answer> answers;
    for (int i = 0; i < 9; ++i) {
        TranslationRequest next = request_for(text);
        next.options.observer = i % 3 == 0 ? &observer : nullptr;
        answers.push_back(held.service.submit(std::move(next)));
    }
    held.let_go.open();
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const TranslatedSentence found = answers[i].result.get();
        CHECK((i % 3 == 0 || found.text == wanted));
    }
    CHECK(observer.largest_batch() == 1);
}

TEST_CASE("a service takes only so many open requests", "[service]") {
    Held held(ServiceOptions{.most_requests = 3});
    Service::Answer second = held.service.submit(request_for("the cat"));
    Service::Answer third = held.service.submit(request_for("the cat"));
    CHECK_THROWS_AS(held.service.submit(request_for("the cat")), Busy);
    CHECK_THROWS_WITH(held.service.submit(request_for("the cat")), Contains("3 requests are open"));
    CHECK(held.service.submit(request_for("")).result.get().text.empty());  // has nothing to wait for
    third.cancel();
    Service::Answer fourth = held.service.submit(request_for("the cat"));
    held.let_go.open();
    CHECK(second.result.get().problem.empty());
    CHECK(fourth.result.get().problem.empty());
    CHECK(held.service.submit(request_for("the cat")).result.get().problem.empty());
}

TEST_CASE("a long text does not hold up a request", "[service]") {
    Held held;
    std::atomic<std::size_t> finished{0};
    std::thread text([&] {
        const std::vector<SourceLine> lines(200, {.text = "the dog sees the cat on the mat", .number = 1});
        held.service.translate_in_order(lines, {.search = {}, .batch_tokens = kBatchTokens},
                                        [&](const auto&, std::size_t so_far) { finished = so_far; });
    });
    held.let_go.open();
    while (finished == 0) {
        std::this_thread::yield();
    }
    const std::size_t before = finished;
    CHECK(held.service.submit(request_for("a cat")).result.get().problem.empty());  // cannot join the text's batches
    const std::size_t after = finished;
    text.join();
    CHECK(after - before < 100);
}

TEST_CASE("a warning that throws ends nothing", "[service]") {
    Losing gpu;
    const Service service({gpu.member("gpu")}, [](const std::string&) { throw std::runtime_error("poison"); });
    CHECK(service.submit(request_for("the cat sees")).result.get().problem.empty());
    CHECK_THROWS_AS(service.submit(poisonous()).result.get(), DeviceLost);
    CHECK(service.submit(request_for("the cat sees")).result.get().problem.empty());
}
