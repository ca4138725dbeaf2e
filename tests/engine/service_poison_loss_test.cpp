// Requests that lose their device end with their own error, and end no device that works when it is reopened.
#include <array>
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "poison.h"

using namespace headscope;

namespace {

bool succeeds(const Team& service, const std::string& text) {
    return service.submit(request_for(text)).get().problem.empty();
}

// Each of the devices, which wait at a gate, gets one request: those with an observer are not merged.
std::vector<Ticket<TextRequest>> occupy(const Team& service, const std::vector<Gate*>& reached) {
    static WatchingObserver observer([](Backend&, const AttentionView& view) { return view.weights; });
    std::vector<Ticket<TextRequest>> answers;
    for (std::size_t i = 0; i < reached.size(); ++i) {
        TextRequest request = request_for("the cat");
        request.options.observer = &observer;
        answers.push_back(service.submit(std::move(request)));
    }
    for (Gate* gate : reached) {
        REQUIRE(gate->wait());
    }
    return answers;
}

}  // namespace

TEST_CASE("requests that lose the device each time end alone, however many come", "[service]") {
    Losing gpu;
    const Team service = gpu.team();
    CHECK(succeeds(service, "the cat sees"));
    constexpr int kRequests = 2 * SecondChance::kMost;
    for (int i = 0; i < kRequests; ++i) {
        Ticket<TextRequest> healthy = service.submit(request_for("the dog sees the cat"));
        Ticket<TextRequest> poisoned = service.submit(request_for(kPoisonous));
        CHECK_THROWS_AS(poisoned.get(), DeviceLost);
        CHECK(healthy.get().problem.empty());
    }
    CHECK(service.uses()[0].failure.empty());
}

TEST_CASE("merged requests that lose the device each end alone", "[service]") {
    constexpr int kRequests = 12;
    Gate reached;
    Gate let_go;
    Losing gpu{.waits_for = &let_go, .opens = &reached};
    const Team service = gpu.team();
    std::vector<Ticket<TextRequest>> healthy = occupy(service, {&reached});
    std::vector<Ticket<TextRequest>> poisoned;
    for (int i = 0; i < kRequests; ++i) {
        poisoned.push_back(service.submit(request_for(kPoisonous)));
        healthy.push_back(service.submit(request_for("the big dog sleeps")));
    }
    let_go.open();
    for (Ticket<TextRequest>& answer : poisoned) {
        CHECK_THROWS_AS(answer.get(), DeviceLost);
    }
    for (Ticket<TextRequest>& answer : healthy) {
        CHECK(answer.get().problem.empty());
    }
    CHECK(succeeds(service, "the cat sees"));
    CHECK(service.uses()[0].failure.empty());
    CHECK(gpu.opened == 1 + 2 + kRequests);  // at first, after both tries together, and after each alone
}

TEST_CASE("a first request that loses the device ends alone", "[service]") {
    Losing gpu;
    const Team service = gpu.team();
    CHECK_THROWS_AS(service.submit(request_for(kPoisonous)).get(), DeviceLost);
    CHECK(succeeds(service, "the cat sees"));
    CHECK(service.uses()[0].failure.empty());
}

TEST_CASE("requests that lose two devices each time end neither", "[service]") {
    std::array<Losing, 2> gpus;
    Crew crew;
    std::ranges::for_each(gpus, [&](Losing& gpu) { gpu.join(crew); });
    const Team service = crew.team();
    constexpr int kRequests = 20;
    for (int i = 0; i < kRequests; ++i) {
        CHECK_THROWS_AS(service.submit(request_for(kPoisonous)).get(), DeviceLost);
    }
    CHECK(succeeds(service, "the cat sees"));
    CHECK(service.uses()[0].failure.empty());
    CHECK(service.uses()[1].failure.empty());
}

TEST_CASE("a request that loses two devices is not given to a third", "[service]") {
    std::array<Gate, 3> reached;
    Gate let_go;
    Gate let_third_go;
    std::array<Losing, 2> gpus{Losing{.waits_for = &let_go, .opens = &reached[0]},
                               Losing{.waits_for = &let_go, .opens = &reached[1]}};
    Crew crew;
    std::ranges::for_each(gpus, [&](Losing& gpu) { gpu.join(crew); });
    crew.add(std::make_unique<PoisonedBackend>(
        std::make_unique<GatedBackend>(open_device("cpu"), &let_third_go, &reached[2]), [] {}));
    const Team service = crew.team();
    std::vector<Ticket<TextRequest>> kept = occupy(service, {&reached[0], &reached[1], &reached[2]});
    Ticket<TextRequest> poisoned = service.submit(request_for(kPoisonous));
    let_go.open();
    CHECK_THROWS_AS(poisoned.get(), DeviceLost);
    let_third_go.open();
    for (Ticket<TextRequest>& answer : kept) {
        CHECK(answer.get().problem.empty());
    }
    CHECK(dynamic_cast<const PoisonedBackend&>(*crew.backends[2]).failures() == 0);
    for (const DeviceUse& share : service.uses()) {
        CHECK(share.failure.empty());
    }
}

TEST_CASE("the last device tries alone what another was given up for", "[service]") {
    std::array<Gate, 2> reached;
    std::array<Gate, 2> let_go;
    Gate given_up;
    Crew crew;
    const auto add = [&](std::size_t i, std::function<void()> fail) {
        crew.add(std::make_unique<PoisonedBackend>(
            std::make_unique<GatedBackend>(open_device("cpu"), &let_go[i], &reached[i]), std::move(fail)));
    };
    add(0, [] { throw DeviceLost("the device hung"); });
    add(1, [] { throw Error("no"); });
    crew.warn = [&](const std::string&) { given_up.open(); };
    const Team service = crew.team();
    std::vector<Ticket<TextRequest>> healthy = occupy(service, {&reached[0], &reached[1]});
    Ticket<TextRequest> poisoned = service.submit(request_for(kPoisonous));
    let_go[0].open();
    REQUIRE(given_up.wait());
    for (int i = 0; i < 4; ++i) {
        healthy.push_back(service.submit(request_for("the big dog sleeps")));
    }
    let_go[1].open();
    CHECK_THROWS_WITH(poisoned.get(), "no");
    for (Ticket<TextRequest>& answer : healthy) {
        CHECK(answer.get().problem.empty());
    }
    CHECK(dynamic_cast<const PoisonedBackend&>(*crew.backends[1]).largest_batch() == 1);
}

TEST_CASE("what the last device finished before it was lost is answered", "[service]") {
    Gate reached;
    Gate let_go;
    int failures = 0;
    auto poisoned = std::make_unique<PoisonedBackend>(open_device("cpu"), [&failures] {
        if (++failures == 1) {  // all requests of the session, which are then tried alone
            throw Error("no");
        }
        throw DeviceLost("the device hung");
    });
    Crew crew;
    crew.add(std::make_unique<GatedBackend>(std::move(poisoned), &let_go, &reached));  // cannot be opened again
    const Team service = crew.team();
    Ticket<TextRequest> first = service.submit(request_for("a dog"));
    REQUIRE(reached.wait());
    Ticket<TextRequest> healthy = service.submit(request_for("the big dog sleeps"));
    Ticket<TextRequest> losing = service.submit(request_for(kPoisonous));
    let_go.open();
    CHECK(first.get().problem.empty());
    CHECK(healthy.get().problem.empty());
    CHECK_THROWS_AS(losing.get(), DeviceLost);
    CHECK(failures == 2);
    CHECK(soon([&] { return !service.uses()[0].failure.empty(); }));
}

TEST_CASE("a request that is cancelled while it loses the device harms no other", "[service]") {
    Gate reached;
    Gate cancelled;
    Losing gpu{.meanwhile = [&] {
        reached.open();
        cancelled.wait();
    }};
    const Team service = gpu.team();
    CHECK(succeeds(service, "the cat sees"));
    Ticket<TextRequest> poisoned = service.submit(request_for(kPoisonous));
    REQUIRE(reached.wait());
    poisoned.cancel();
    cancelled.open();
    CHECK_THROWS_AS(poisoned.get(), Cancelled);
    CHECK(succeeds(service, "the cat sees"));
}

TEST_CASE("a device that is lost while an observer computes on it is reopened", "[service]") {
    Losing gpu;
    const Team service = gpu.team();
    bool lost = false;
    WatchingObserver observer([&](Backend&, const AttentionView& view) {
        if (!std::exchange(lost, true)) {
            throw DeviceLost("the device hung");
        }
        return view.weights;
    });
    TextRequest request = request_for("the cat");
    request.options.observer = &observer;
    CHECK(service.submit(std::move(request)).get().problem.empty());
    CHECK(gpu.opened == 2);
}

TEST_CASE("a warning that throws ends nothing", "[service]") {
    Losing gpu;
    Crew crew;
    crew.warn = [](const std::string&) { throw std::runtime_error("poison"); };
    gpu.join(crew);
    const Team service = crew.team();
    CHECK(succeeds(service, "the cat sees"));
    CHECK_THROWS_AS(service.submit(request_for(kPoisonous)).get(), DeviceLost);
    CHECK(succeeds(service, "the cat sees"));
}
