// Who runs when, and what happens to those who wait.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "poison.h"

using namespace headscope;

namespace {

TextRequest greedy(const std::string& text) {
    return {.line = {.text = text, .number = 1}, .options = {.search = {.beam = 1}}};
}

// A rule that allows everything.
TextRequest watched(const std::string& text, std::function<void()> at_each_step) {
    TextRequest request = greedy(text);
    request.options.rule_for = [step = std::move(at_each_step)](std::string_view) {
        return [step](const std::vector<std::int32_t>&) {
            step();
            return std::vector<std::int32_t>();
        };
    };
    return request;
}

}  // namespace

TEST_CASE("work that needs a whole device runs although others could join its session for ever", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    constexpr int kMost = 400;
    std::vector<Ticket<TextRequest>> joining;
    std::atomic<bool> done{false};
    std::atomic<int> joined{0};
    // Each, while it is written, brings the next, which joins its session.
    std::function<void()> bring_another = [&] {
        if (!done && joined < kMost) {
            ++joined;
            TextRequest next = watched("the dog sees", [&, first = std::make_shared<bool>(true)] {
                if (std::exchange(*first, false)) {
                    bring_another();
                }
            });
            next.options.search.min_length = 20;
            joining.push_back(team.submit(std::move(next)));  // on the device's thread alone
        }
    };
    std::atomic<bool> begun{false};
    Ticket<TextRequest> first = team.submit(watched("the dog", [&, again = true]() mutable {
        if (std::exchange(again, false)) {
            begun = true;
            bring_another();
        }
    }));
    REQUIRE(soon([&] { return begun.load(); }));
    std::atomic<int> tries{0};
    Ticket<RunRequest<int>> large = team.submit(RunRequest<int>{[&](const Place&) {
        if (++tries == 1) {
            throw OutOfMemory("others have the memory");
        }
        return done ? 0 : joined.load();
    }});
    const int waited = large.get();
    done = true;
    CHECK(waited < kMost);
    CHECK(first.get().problem.empty());
    REQUIRE(team.engine->drain(std::chrono::seconds(60)));
}

TEST_CASE("a device that was lost inside a long step is opened again once", "[engine]") {
    std::atomic<int> opened{0};
    Crew crew;
    crew.warn = [](const std::string&) {};
    crew.add(Crew::Open([&] {
        const int number = ++opened;
        return std::make_unique<PoisonedBackend>(open_device("cpu"), [number] {
            if (number == 1) {
                throw DeviceLost("the device hung");
            }
        });
    }));
    const Team team = crew.team();
    std::atomic<bool> begun{false}, submitted{false};
    Ticket<RunRequest<int>> outer = team.submit(RunRequest<int>{[&](const Place& place) {
        begun = true;
        while (!submitted) {
        }
        int rounds = 0;
        for (; rounds < 100 && place.goes_on(); ++rounds) {
            place.backend.synchronize();
        }
        return rounds;
    }});
    REQUIRE(soon([&] { return begun.load(); }));
    Ticket<TextRequest> inner = team.submit(greedy(kPoisonous));
    submitted = true;
    CHECK(outer.get() == 100);
    CHECK(inner.get().problem.empty());
    CHECK(opened == 2);
}

TEST_CASE("what a request refers to is destroyed without the engine's lock", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    Gate written, cancelled;
    std::atomic<bool> destroyed{false};
    {
        const std::shared_ptr<int> kept(new int(0), [&](int* number) {
            delete number;
            static_cast<void>(team.engine->statistics());  // takes the lock
            destroyed = true;
        });
        Ticket<TextRequest> ticket = team.submit(watched("the dog sees the cat", [&, kept] {
            written.open();
            cancelled.wait();
        }));
        REQUIRE(written.wait());
        ticket.cancel();
        cancelled.open();
        CHECK_THROWS_AS(ticket.get(), Cancelled);
    }
    CHECK(soon([&] { return destroyed.load(); }));
    CHECK(team.submit(greedy("a cat")).get().problem.empty());
}

TEST_CASE("the weights of an unloaded model are freed after its last request, without another one", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    std::weak_ptr<const Parameters> weights;
    const ModelHandle other = team.engine->open([&](Backend& backend, const WeightStorage&) {
        const auto whole = std::make_shared<LoadedModel>(tiny_translator(backend));
        const std::shared_ptr<const Parameters> parameters(whole, &whole->parameters());
        weights = parameters;
        return std::make_unique<const LoadedModel>(backend, whole->model(), parameters);
    });
    Gate written, unloaded;
    Ticket<TextRequest> ticket = team.engine->submit(other, watched("the dog", [&] {
                                                         written.open();
                                                         unloaded.wait();
                                                     }));
    REQUIRE(written.wait());
    team.engine->unload(other);
    unloaded.open();
    CHECK(ticket.get().problem.empty());
    CHECK(soon([&] { return weights.expired(); }));
}

TEST_CASE("known work is short, whatever has succeeded before", "[engine]") {
    Crew crew;
    crew.add(std::make_unique<GatedBackend>(
        std::make_unique<PoisonedBackend>(open_device("cpu"), [] { throw Error("no"); }), nullptr, nullptr));
    const Team team = crew.team();
    const auto& device = dynamic_cast<const GatedBackend&>(*crew.backends[0]);
    TextRequest longest = greedy("the dog sees the cat");
    longest.options.search.min_length = 50;
    CHECK(team.submit(std::move(longest)).get().problem.empty());
    const int of_longest = device.products();
    CHECK_THROWS_WITH(team.submit(greedy(kPoisonous)).get(), "no");
    CHECK(device.products() - of_longest < of_longest / 2);
    CHECK(team.uses()[0].failure.empty());
}

TEST_CASE("long work that asks whether it goes on ends when it is cancelled, and is not tried again", "[engine]") {
    Crew crew;
    crew.add(open_device("cpu"));
    const Team team = crew.team();
    std::atomic<int> tries{0};
    Ticket<RunRequest<int>> ticket = team.submit(RunRequest<int>{[&](const Place& place) -> int {
        ++tries;
        for (;;) {
            place.go_on();
        }
    }});
    REQUIRE(soon([&] { return tries.load() > 0; }));
    ticket.cancel();
    CHECK_THROWS_AS(ticket.get(), Cancelled);
    ticket.settle();
    CHECK(team.submit(greedy("a cat")).get().problem.empty());
    CHECK(tries == 1);
}
