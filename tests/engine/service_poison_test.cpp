// One bad request ends with its own error, and harms neither the others nor the devices.
#include <catch2/catch.hpp>
#include <future>

#include "backend/instrumented.h"
#include "poison.h"

using namespace headscope;

namespace {

using Catch::Matchers::Contains;

TextRequest poisonous() {
    return request_for(kPoisonous);
}

void check_unharmed(const Team& service, const Crew& crew) {
    for (const DeviceUse& share : service.uses()) {
        CHECK(share.failure.empty());
    }
    CHECK(crew.warnings.empty());
    Ticket<TextRequest> after = service.submit(request_for("the cat sees"));
    CHECK(after.get().problem.empty());
}

constexpr std::size_t kFewLines = 12;
constexpr std::size_t kAllLines = 1000;

void check_fails_alone(std::size_t devices, std::size_t lines, const std::function<std::unique_ptr<Backend>()>& open,
                       const std::function<TextRequest()>& poisoned) {
    Crew crew;
    for (std::size_t device = 0; device < devices; ++device) {
        crew.add(open());
    }
    const Team service = crew.team();
    const Answers answers = answers_of(service, poisoned, lines);
    CHECK(answers.wrong == 0);
    CHECK(answers.right > 40);
    CHECK(answers.failed > 5);
    CHECK(answers.survived == 0);
    check_unharmed(service, crew);
}

TextRequest request_with(const BadCallback& callback) {
    TextRequest request = request_for("the cat sees");
    callback.set(request);
    return request;
}

// A service whose device waits at its first request, so that others pile up and are merged.
struct Held {
    Gate reached;
    Gate let_go;
    Crew crew;
    Team service;
    Ticket<TextRequest> first;
    explicit Held(const Bounds& bounds = {}) : service(team(bounds)), first(service.submit(request_for("a dog"))) {
        REQUIRE(reached.wait());
    }
    ~Held() { let_go.open(); }

private:
    Team team(const Bounds& bounds) {
        crew.add(std::make_unique<GatedBackend>(open_device("cpu"), &let_go, &reached));
        return crew.team(load_tiny, bounds);
    }
};

}  // namespace

TEST_CASE("a request that a device cannot do fails alone", "[service]") {
    for (const DeviceFault& fault : device_faults()) {
        INFO(fault.name);
        check_fails_alone(
            1, kFewLines, [&] { return std::make_unique<PoisonedBackend>(open_device("cpu"), fault.fail); }, poisonous);
    }
}

TEST_CASE("a request whose callback throws fails alone", "[service]") {
    for (const BadCallback& callback : bad_callbacks()) {
        INFO(callback.name);
        check_fails_alone(
            1, kFewLines, [] { return open_device("cpu"); }, [&] { return request_with(callback); });
    }
}

TEST_CASE("a request fails alone on two devices", "[service]") {
    check_fails_alone(
        2, kAllLines,
        [] { return std::make_unique<PoisonedBackend>(open_device("cpu"), device_faults().front().fail); }, poisonous);
    check_fails_alone(
        2, kAllLines, [] { return open_device("cpu"); }, [] { return request_with(bad_callbacks().front()); });
}

TEST_CASE("a failed request has the exception that it caused", "[service]") {
    Crew crew;
    crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw OutOfMemory("no memory for this"); }));
    const Team service = crew.team();
    CHECK_THROWS_AS(service.submit(poisonous()).get(), TooLarge);
    TextRequest throwing = request_for("the cat");
    throwing.options.rule_for = [](std::string_view) {
        return [](const std::vector<std::int32_t>&) -> std::vector<std::int32_t> {
            throw std::out_of_range("a bug of the caller");
        };
    };
    CHECK_THROWS_AS(service.submit(std::move(throwing)).get(), std::out_of_range);
    check_unharmed(service, crew);
}

TEST_CASE("each request of a failed batch is tried alone once", "[service]") {
    Crew crew;
    crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw Error("no"); }));
    const Team service = crew.team();
    const auto& backend = dynamic_cast<const PoisonedBackend&>(*crew.backends[0]);
    const std::vector<SourceLine> lines{{.text = "the cat"}, {.text = kPoisonous}, {.text = "a dog sleeps"}};
    std::vector<TextResult> found;
    service.lines().translate_in_order(lines, {.search = {}}, [&](std::vector<TextResult> next, std::size_t) {
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
    const Team service = crew.team();
    const std::vector<SourceLine> lines(20, {.text = kPoisonous});
    CHECK_THROWS_WITH(service.lines().translate_in_order(lines, {}, [](const auto&, std::size_t) {}), "no");
    check_unharmed(service, crew);
}

TEST_CASE("a request that is too large for one device is translated by another", "[service]") {
    Crew crew;
    crew.add(std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw OutOfMemory("no memory for this"); }));
    crew.add(open_device("cpu"));
    const Team service = crew.team();
    for (int i = 0; i < 20; ++i) {  // either device may take one first
        CHECK(service.submit(poisonous()).get().problem.empty());
    }
    check_unharmed(service, crew);
}

TEST_CASE("weights that are not numbers give each request a problem and end nothing", "[service]") {
    for (const bool scans : {false, true}) {
        INFO((scans ? "the device scans for NaN" : "no scan"));
        Crew crew;
        crew.add(std::make_unique<Instrumented>(open_device("cpu"), InstrumentOptions{.scan_for_nan = scans}));
        const Team service = crew.team(load_damaged);
        for (int i = 0; i < 3; ++i) {
            Ticket<TextRequest> answer = service.submit(request_for("the cat"));
            if (scans) {
                CHECK_THROWS_WITH(answer.get(), Contains("NaN"));
            } else {
                CHECK(!answer.get().problem.empty());
            }
        }
        CHECK(service.uses()[0].failure.empty());
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
        return translate_line(tiny_translator(*cpu), text, request_for(text).options).text;
    }();
    WatchingObserver observer(uniform);
    std::vector<Ticket<TextRequest>> answers;
    for (int i = 0; i < 9; ++i) {
        TextRequest next = request_for(text);
        next.options.observer = i % 3 == 0 ? &observer : nullptr;
        answers.push_back(held.service.submit(std::move(next)));
    }
    held.let_go.open();
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const TextResult found = answers[i].get();
        CHECK((i % 3 == 0 || found.text == wanted));
    }
    CHECK(observer.largest_batch() == 1);
}

TEST_CASE("a service takes only so many open requests", "[service]") {
    Held held(Bounds{.requests = 3});
    Ticket<TextRequest> second = held.service.submit(request_for("the cat"));
    Ticket<TextRequest> third = held.service.submit(request_for("the cat"));
    CHECK_THROWS_AS(held.service.submit(request_for("the cat")), Busy);
    CHECK_THROWS_WITH(held.service.submit(request_for("the cat")), Contains("3 requests are open"));
    CHECK(held.service.submit(request_for("")).get().text.empty());  // has nothing to wait for
    third.cancel();
    Ticket<TextRequest> fourth = held.service.submit(request_for("the cat"));
    held.let_go.open();
    CHECK(second.get().problem.empty());
    CHECK(fourth.get().problem.empty());
    CHECK(held.service.submit(request_for("the cat")).get().problem.empty());
}

TEST_CASE("a long text does not hold up a request", "[service]") {
    Held held;
    Gate queued;
    int steps = 0;  // of the text, on the device's thread
    const auto text = std::async(std::launch::async, [&] {
        const auto rule = [&](std::string_view) {
            return [&](const std::vector<std::int32_t>&) {
                ++steps;
                return std::vector<std::int32_t>();
            };
        };
        const std::vector<SourceLine> lines(200, {.text = "the dog sees the cat on the mat", .number = 1});
        held.service.lines().translate_in_order(lines, {.search = {}, .batch_tokens = kBatchTokens, .rule_for = rule},
                                                [&](const auto&, std::size_t) { queued.open(); });
    });
    REQUIRE(queued.wait());
    TextRequest request = request_for("a cat");  // cannot join the text's batches
    int before = -1;
    request.options.rule_for = [&](std::string_view) {
        return [&](const std::vector<std::int32_t>&) {
            before = before < 0 ? steps : before;
            return std::vector<std::int32_t>();
        };
    };
    Ticket<TextRequest> answer = held.service.submit(std::move(request));
    held.let_go.open();
    CHECK(answer.get().problem.empty());
    text.wait();
    CHECK(before >= 0);
    CHECK(before < steps / 10);
}
