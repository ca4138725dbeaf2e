// How long a person waits, with the shipped model on the CPU: test_viewer "[.bench]".
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>

#include "explore/explorer.h"
#include "tests/viewer/worker_desk.h"

using namespace headscope;
using namespace headscope::viewer;

TEST_CASE("The shipped model's first token after a keystroke", "[.bench]") {
    Desk desk;
    desk.open(HEADSCOPE_SOURCE_DIR "/assets/models/en-de");
    double worst = 0.0;
    double sum = 0.0;
    std::string text;
    int asked = 0;
    for (const char* word :
         {"The", " animal", " didn't", " cross", " the", " street", " because", " it", " was", " too", " tired", "."}) {
        text += word;
        const Clock::time_point start = Clock::now();
        const Tag tag = desk.worker.explore(request(text));
        REQUIRE(desk.wait([&](const News& news) {
            const auto* explored = std::get_if<Explored>(&news);
            return explored != nullptr && explored->tag == tag;
        }));
        const double seconds = seconds_since(start);
        worst = std::max(worst, seconds);
        sum += seconds;
        ++asked;
    }
    std::printf("first token: mean %.1f ms, worst %.1f ms of %d requests, each stopping the one before\n",
                1000.0 * sum / asked, 1000.0 * worst, asked);
    const std::shared_ptr<const Exploration> whole = desk.finished(desk.worker.explore(request(text)));
    std::printf("whole sentence: %.0f ms, first %.1f ms, %zu tokens: %s\n", 1000.0 * whole->seconds,
                1000.0 * whole->seconds_to_first, whole->steps.size(), whole->translation.c_str());
    const Clock::time_point start = Clock::now();
    desk.worker.measure(with_target(request(text), *whole));
    REQUIRE(desk.wait([](const News& news) {
        const auto* measured = std::get_if<Measured>(&news);
        return measured != nullptr && measured->importance->finished;
    }));
    std::printf("importance of all heads: %.2f s\n", seconds_since(start));
    CHECK(worst < 0.15);
}

TEST_CASE("The shipped model's longest sentences", "[.bench]") {
    Desk desk;
    desk.open(HEADSCOPE_SOURCE_DIR "/assets/models/en-de");
    std::string text;
    for (int i = 0; i < 33; ++i) {
        text += "The animal didn't cross the street, ";
    }
    const Tag tag = desk.worker.explore(request(text));
    const std::shared_ptr<const Exploration> whole = desk.finished(tag);
    const auto shown = std::count_if(desk.heard.begin(), desk.heard.end(),
                                     [](const News& news) { return std::holds_alternative<Explored>(news); });
    std::printf("%zu source tokens: %.2f s, first %.1f ms, %zu tokens, shown %d times\n", whole->record.source.size(),
                whole->seconds, 1000.0 * whole->seconds_to_first, whole->steps.size(), static_cast<int>(shown));
    const Clock::time_point start = Clock::now();
    desk.worker.measure(with_target(request(text), *whole));
    REQUIRE(desk.wait(
        [](const News& news) {
            const auto* measured = std::get_if<Measured>(&news);
            return measured != nullptr && measured->importance->finished;
        },
        120.0));
    std::printf("importance of all heads: %.2f s\n", seconds_since(start));
    CHECK(whole->problem.empty());
}
