// Work in parts that the devices of an engine share.
#include "engine/in_order.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "crew.h"

using namespace headscope;

namespace {

// The numbers from 0, of which `failing` is an input that cannot be read.
struct Numbers {
    int count = 0;
    int failing = -1;
    int next = 0;
    std::optional<int> operator()() {
        if (next == failing) {
            throw Error("line 7: no number");
        }
        return next == count ? std::nullopt : std::optional(next++);
    }
};

Team two_devices(Crew& crew) {
    for (int i = 0; i < 2; ++i) {
        crew.add([] { return open_device("cpu"); });
    }
    return crew.team();
}

RunRequest<int> request(std::function<int()> run) {
    return {.run = [run = std::move(run)](const Place& /*place*/) { return run(); }};
}

}  // namespace

TEST_CASE("results come in the order of the parts, whichever device is done first") {
    Crew crew;
    const Team team = two_devices(crew);
    Gate others;
    std::vector<int> taken;
    Numbers numbers{.count = 40};
    ask_in_order(
        *team.engine, team.model, [&] { return numbers(); },
        [&](const int& number) {
            return request([&] {
                number == 0 ? static_cast<void>(others.wait()) : others.open();  // the first part ends after another
                return 10 * number;
            });
        },
        [&](const int& number, int result) {
            CHECK(others.wait());
            CHECK(result == 10 * number);
            taken.push_back(number);
        });
    std::vector<int> all(40);
    std::iota(all.begin(), all.end(), 0);
    CHECK(taken == all);
}

TEST_CASE("parts before a broken input are taken first") {
    Crew crew;
    const Team team = two_devices(crew);
    std::vector<int> taken;
    Numbers numbers{.count = 40, .failing = 30};
    const auto ask = [&] {
        ask_in_order(
            *team.engine, team.model, [&] { return numbers(); },
            [](const int& number) { return request([&] { return number; }); },
            [&](const int& number, int) { taken.push_back(number); });
    };
    CHECK_THROWS_WITH(ask(), "line 7: no number");
    CHECK(taken.size() == 30);
}

TEST_CASE("no part goes on after one that fails") {
    Crew crew;
    const Team team = two_devices(crew);
    std::atomic<bool> over = false, late = false;
    std::vector<int> taken;
    Numbers numbers{.count = 40};
    const auto ask = [&] {
        ask_in_order(
            *team.engine, team.model, [&] { return numbers(); },
            [&](const int& number) {
                return request([&] {
                    if (number == 3) {
                        throw Error("part 3 is broken");
                    }
                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    late = late || over;
                    return number;
                });
            },
            [&](const int& number, int) { taken.push_back(number); });
    };
    CHECK_THROWS_WITH(ask(), "part 3 is broken");
    over = true;
    CHECK(taken == std::vector{0, 1, 2});
    team.engine->close();
    CHECK(!late);
}
