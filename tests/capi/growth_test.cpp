// What stays in memory after things were opened and closed many times: ./do check library.
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/capi/handles.h"

using namespace headscope_tests;

namespace {

// Of this process, in bytes.
double resident() {
    std::ifstream file("/proc/self/statm");
    double total = 0.0;
    double pages = 0.0;
    file >> total >> pages;
    return pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

template <class Work>
double growth(int times, const Work& work) {
    for (int i = 0; i < times / 10; ++i) {  // the allocator settles
        work();
    }
    const double before = resident();
    for (int i = 0; i < times; ++i) {
        work();
    }
    return (resident() - before) / (1024.0 * 1024.0);
}

Engine small_engine() {
    Engine engine;
    REQUIRE(hs_engine_open(HS_ABI, chosen({{"devices", {"cpu"}}, {"threads", 1}}).get(), nullptr, nullptr, &engine,
                           nullptr) == HS_OK);
    return engine;
}

}  // namespace

TEST_CASE("ten thousand opens and closes leave nothing", "[.][growth]") {
    CHECK(growth(10'000, [] { small_engine(); }) < 1.0);
    const Engine engine = small_engine();
    const Model model = opened("en-de", engine.get());
    CHECK(growth(10'000, [&] { opened("en-de", engine.get()); }) < 1.0);
    CHECK(growth(10'000, [&] { result_of(submit(model, HS_TOKENIZE, {"The cat sleeps."})); }) < 1.0);
}

// The first load after another one adds 3 MB, once: the device's own copy of the tokenizer.
TEST_CASE("200 loads and unloads leave nothing", "[.][growth]") {
    const Engine engine = small_engine();
    const Model model = opened("en-de", engine.get());
    CHECK(growth(200, [&] {
              REQUIRE(hs_model_unload(model.get(), nullptr) == HS_OK);
              std::this_thread::sleep_for(std::chrono::milliseconds(10));  // until the device has freed it
              REQUIRE(hs_model_load(model.get(), nullptr) == HS_OK);
              result_of(submit(model, HS_TRANSLATE, {"The cat sleeps."}));
          }) < 1.0);
}
