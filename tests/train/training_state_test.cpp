// The state of a run: which checkpoints are kept, and errors for damaged states. run_log_test.cpp has valid ones.
#include "train/training_state.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

const RunIdentity kIdentity{{{"seed", 1}}, 7, "cpu", "F32"};

nlohmann::json changed(const std::string& pointer, const nlohmann::json& value) {
    TrainingState state;
    state.step = 3;
    state.best = {2, 0.5};
    state.source = {{"epoch", 0}, {"window", 0}, {"window_step", 0}};  // a Batcher's
    nlohmann::json state_json = to_json(state, kIdentity);
    state_json[nlohmann::json::json_pointer(pointer)] = value;
    return state_json;
}

}  // namespace

TEST_CASE("the newest healthy checkpoint is kept beyond the number to keep") {
    TrainingState state;
    const auto after = [&state](std::int64_t step, bool healthy) {
        state.step = step;
        state.note_kept(healthy, 2);
        std::vector<std::int64_t> steps;
        for (const TrainingState::Kept& kept : state.kept) {
            steps.push_back(kept.step);
        }
        return steps;
    };
    using Steps = std::vector<std::int64_t>;
    CHECK(after(1, true) == Steps{1});
    CHECK(after(2, true) == Steps{1, 2});
    CHECK(after(3, false) == Steps{2, 3});
    CHECK(after(4, false) == Steps{2, 3, 4});
    CHECK(after(5, false) == Steps{2, 4, 5});
    CHECK(after(6, true) == Steps{5, 6});
}

TEST_CASE("an error names a number that is not a count") {
    for (const char* pointer : {"/step", "/epoch", "/window", "/window_step", "/tokens", "/updates", "/totals/steps",
                                "/totals/all_tokens", "/best/step"}) {
        for (const nlohmann::json& wrong : {nlohmann::json(-1), nlohmann::json(1.5), nlohmann::json(1e300),
                                            nlohmann::json(true), nlohmann::json(18446744073709551615U)}) {
            INFO(pointer << " " << wrong);
            const std::string key = std::string(pointer).substr(std::string(pointer).rfind('/') + 1);
            CHECK_THAT(
                error_of([&] { parse_training_state(changed(pointer, wrong), "f"); }),
                Contains("f: its checkpoint state is damaged") && Contains('"' + key + '"') && Contains(wrong.dump()));
        }
    }
    CHECK(parse_training_state(changed("/step", 9), "f").step == 9);
}

TEST_CASE("a state from before epochs had windows is rejected with advice") {
    nlohmann::json old = changed("/epoch_step", 4);
    old.erase("window");
    old.erase("window_step");
    CHECK_THAT(error_of([&] { parse_training_state(old, "f"); }),
               Contains("f was written by an earlier version") && Contains("--from") && !Contains("damaged"));
}

TEST_CASE("a state of another format is rejected, not misread") {
    CHECK_THAT(error_of([&] { compare_identity(nlohmann::json("text"), kIdentity, "f"); }),
               Contains("f: its checkpoint state is damaged"));
    for (const char* pointer : {"/config", "/data", "/device", "/compute"}) {
        INFO(pointer);
        CHECK_THAT(error_of([&] { compare_identity(changed(pointer, nlohmann::json::array({1})), kIdentity, "f"); }),
                   Contains("f: its checkpoint state is damaged"));
    }
    CHECK(compare_identity(changed("/step", 9), kIdentity, "f").empty());
}

TEST_CASE("a source's state never overwrites what the run says of itself") {
    TrainingState state;
    state.step = 9;
    state.seconds = 2.0;
    state.source = {{"epoch", 0}, {"window", 0}, {"window_step", 4}, {"step", 77}, {"seconds", 5.0}};
    const TrainingState read = parse_training_state(to_json(state, kIdentity), "f");
    CHECK(read.step == 9);
    CHECK(read.seconds == 2.0);
    CHECK(read.source == state.source);
    state.source = {{"epoch", 1}, {"window", 2}, {"window_step", 4}};  // a Batcher's
    CHECK(to_json(state, kIdentity).at("window_step") == 4);
    CHECK(parse_training_state(to_json(state, kIdentity), "f").source == state.source);
}

TEST_CASE("a state of an earlier version counted every step as an update") {
    TrainingState state;
    state.step = 9;
    state.updates = 4;
    nlohmann::json written = to_json(state, kIdentity);
    CHECK(parse_training_state(written, "f").updates == 4);
    written.erase("updates");
    CHECK(parse_training_state(written, "f").updates == 9);
}
