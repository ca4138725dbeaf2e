// Response times with the shipped model on the CPU: test_viewer "[.bench]".
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>

#include "explore/explorer.h"
#include "tests/viewer/worker_client.h"

using namespace headscope;
using namespace headscope::viewer;

TEST_CASE("The shipped model's first token after a keystroke", "[.bench]") {
    WorkerClient client;
    client.open(HEADSCOPE_SOURCE_DIR "/assets/models/en-de");
    double worst = 0.0;
    double sum = 0.0;
    std::string text;
    int asked = 0;
    for (const char* word :
         {"The", " animal", " didn't", " cross", " the", " street", " because", " it", " was", " too", " tired", "."}) {
        text += word;
        const Clock::time_point start = Clock::now();
        const Tag tag = client.worker.explore(request(text));
        REQUIRE(client.wait([&](const WorkerEvent& event) {
            const auto* explored = std::get_if<Explored>(&event);
            return explored != nullptr && explored->tag == tag;
        }));
        const double seconds = seconds_since(start);
        worst = std::max(worst, seconds);
        sum += seconds;
        ++asked;
    }
    std::printf("first token: mean %.1f ms, worst %.1f ms of %d requests, each stopping the one before\n",
                1000.0 * sum / asked, 1000.0 * worst, asked);
    const std::shared_ptr<const Exploration> whole = client.finished(client.worker.explore(request(text)));
    std::printf("whole sentence: %.0f ms, first %.1f ms, %zu tokens: %s\n", 1000.0 * whole->seconds,
                1000.0 * whole->seconds_to_first, whole->steps.size(), whole->translation.c_str());
    const Clock::time_point start = Clock::now();
    client.worker.measure(with_target(request(text), *whole));
    REQUIRE(client.wait([](const WorkerEvent& event) {
        const auto* measured = std::get_if<Measured>(&event);
        return measured != nullptr && measured->importance->finished;
    }));
    std::printf("importance of all heads: %.2f s\n", seconds_since(start));
    CHECK(worst < 0.15);
}

TEST_CASE("The shipped model's longest sentences", "[.bench]") {
    WorkerClient client;
    client.open(HEADSCOPE_SOURCE_DIR "/assets/models/en-de");
    std::string text;
    for (int i = 0; i < 33; ++i) {
        text += "The animal didn't cross the street, ";
    }
    const Tag tag = client.worker.explore(request(text));
    const std::shared_ptr<const Exploration> whole = client.finished(tag);
    const auto shown = std::count_if(client.received.begin(), client.received.end(),
                                     [](const WorkerEvent& event) { return std::holds_alternative<Explored>(event); });
    std::printf("%zu source tokens: %.2f s, first %.1f ms, %zu tokens, shown %d times\n", whole->record.source.size(),
                whole->seconds, 1000.0 * whole->seconds_to_first, whole->steps.size(), static_cast<int>(shown));
    const Clock::time_point start = Clock::now();
    client.worker.measure(with_target(request(text), *whole));
    REQUIRE(client.wait(
        [](const WorkerEvent& event) {
            const auto* measured = std::get_if<Measured>(&event);
            return measured != nullptr && measured->importance->finished;
        },
        120.0));
    std::printf("importance of all heads: %.2f s\n", seconds_since(start));
    CHECK(whole->problem.empty());
}
