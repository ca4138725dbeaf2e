// Many threads and many lines.
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "tests/capi/handles.h"

using namespace headscope_tests;

namespace {

// What threads see that ask without end, one of them through a handle of its own, while `close` runs.
template <class Close>
std::set<hs_status> seen_while(const Model& model, hs_engine* engine, const Close& close) {
    std::mutex mutex;
    std::set<hs_status> seen;
    std::atomic<int> answered = 0;
    std::atomic<bool> stopped = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
        threads.emplace_back([&, i] {
            const Model own = i == 0 ? opened("en-de", engine) : Model();
            while (!stopped) {
                const hs_text line = text(i % 2 == 0 ? "The cat sleeps." : "A house.");
                Request request;
                hs_status status = hs_submit(i == 0 ? own.get() : model.get(), i == 5 ? HS_ATTEND : HS_TRANSLATE, &line,
                                             nullptr, 1, nullptr, &request, nullptr);
                if (status == HS_OK) {
                    Result result;
                    status = hs_request_wait(request.get(), -1, &result, nullptr);
                    answered += status == HS_OK ? 1 : 0;
                }
                const std::lock_guard lock(mutex);
                seen.insert(status);
                if (status != HS_OK) {
                    return;
                }
            }
        });
    }
    while (answered < 12) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    close();
    stopped = true;
    for (std::thread& each : threads) {
        each.join();
    }
    return seen;
}

}  // namespace

TEST_CASE("an engine closes, drains and unloads while many threads ask") {
    for (int round = 0; round < 3; ++round) {
        Engine engine;
        REQUIRE(hs_engine_open(HS_ABI, chosen({{"devices", {"cpu"}}}).get(), nullptr, nullptr, &engine, nullptr) ==
                HS_OK);
        const Model model = opened("en-de", engine.get());
        const std::set<hs_status> seen = seen_while(model, engine.get(), [&] {
            if (round == 0) {
                engine.reset();
            } else if (round == 1) {
                CHECK(hs_engine_drain(engine.get(), -1, nullptr) == HS_OK);
            } else {
                CHECK(hs_model_unload(model.get(), nullptr) == HS_OK);
            }
        });
        for (const hs_status status : seen) {
            CHECK((status == HS_OK || status == HS_CANCELLED || status == HS_CLOSED));
        }
    }
}

TEST_CASE("a request is waited for by many threads and cancelled by another") {
    const Model model = opened("en-de");
    const Asked asked = submit(model, HS_TRANSLATE, Texts(400, "It is a very long story, which nobody wants to hear."));
    std::vector<std::thread> threads;
    std::atomic<int> cancelled = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            Result result;
            cancelled += hs_request_wait(asked.request.get(), -1, &result, nullptr) == HS_CANCELLED ? 1 : 0;
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    hs_request_cancel(asked.request.get());
    for (std::thread& each : threads) {
        each.join();
    }
    CHECK(cancelled == 8);
}

TEST_CASE("a million lines are split into pieces", "[.][growth]") {
    const Model model = opened("en-de");
    const Result result = result_of(submit(model, HS_TOKENIZE, Texts(1'000'000, "A house.")));
    CHECK(hs_result_count(result.get()) == 1'000'000);
    CHECK(hs_result_choices(result.get(), 999'999) == 1);
    CHECK(text_of(hs_result_text(result.get(), 999'999, 0)) == "A house.");
    CHECK(submit(model, HS_ATTEND, Texts(1'000'000)).status == HS_INVALID);
}
