#include "train/run_log.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/io/file_size_limit.h"
#include "tests/io/temporary_folder.h"
#include "train/run_totals.h"
#include "train/training_state.h"

using namespace headscope;

TEST_CASE("a resumed log drops the lines that the run will write again", "[log]") {
    const TemporaryFolder folder;
    const std::string path = folder.write("log.jsonl",
                                          "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n{\"step\":-4e23}\n{\"step\":-5}\n{"
                                          "\"step\":18446744073709551615}\n{\"st");
    RunLog log(folder.file(""), false, [](const std::string&) {});
    log.open(2);
    log.add({{"step", 3}, {"again", true}});
    CHECK(read_all(path) == "{\"step\":1}\n{\"step\":2}\n{\"again\":true,\"step\":3}\n");
    log.open(0);
    log.add({{"step", 1}});
    CHECK(read_all(path) == "{\"step\":1}\n");
}

TEST_CASE("a line that does not fit on the disk leaves nothing behind, with one warning", "[log]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.jsonl");
    std::string said;
    RunLog log(folder.file(""), false, [&said](const std::string& line) { said += line + "\n"; });
    log.open(0);
    log.add({{"step", 1}});
    {
        const FileSizeLimit full(20);  // space for half of it
        log.add({{"step", 2}, {"loss", 0.5}});
        log.add({{"step", 2}, {"loss", 0.5}});
    }
    log.add({{"step", 3}});
    CHECK(read_all(path) == "{\"step\":1}\n{\"step\":3}\n");
    CHECK_THAT(said, Catch::Contains("log.jsonl") && Catch::Contains("File too large"));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
}

TEST_CASE("a skipped step does not spoil the means", "[log]") {
    RunTotals totals;
    totals.add({.loss = 6.0, .nll = 4.0, .gradient_norm = 1.0, .tokens = {3, 2}, .divisor = 2.0}, false);
    totals.add({.loss = NAN, .nll = NAN, .gradient_norm = NAN, .skipped = true, .tokens = {30, 20}}, false);
    totals.add({.loss = 4.0, .nll = 2.0, .gradient_norm = 3.0, .tokens = {1, 2}, .divisor = 2.0}, false);
    CHECK(totals.skipped == 1);
    CHECK(totals.skipped_in_a_row == 0);
    CHECK(totals.all_tokens == 58);
    totals.seconds = 2.0;
    const auto parsed = Report{.step = 3, .totals = totals}.json();
    CHECK(parsed["loss"] == Approx(2.5));
    CHECK(parsed["nll"] == Approx(1.5));
    CHECK(parsed["perplexity"] == Approx(std::exp(1.5)));
    CHECK(parsed["gradient_norm"] == Approx(2.0));
    CHECK(parsed["tokens_per_second"] == Approx(29.0));
    CHECK_THAT((Report{.step = 3, .totals = totals}.line()), Catch::Contains("SKIPPED 1"));
}

TEST_CASE("skipped steps in a row are counted across reports", "[log]") {
    RunTotals totals;
    totals.add({.skipped = true, .tokens = {1, 1}}, false);
    totals.restart();
    totals.add({.skipped = true, .tokens = {1, 1}}, false);
    CHECK(totals.skipped == 1);
    CHECK(totals.skipped_in_a_row == 2);
}

TEST_CASE("a skipped step that lowers the loss scale does not count as stuck", "[log]") {
    RunTotals totals;
    const StepRecord skipped{.skipped = true};
    totals.add(skipped, false);
    totals.add(skipped, true);
    CHECK(totals.skipped_in_a_row == 2);
    CHECK(totals.stuck_in_a_row == 0);
    totals.add(skipped, false);
    totals.restart();
    totals.add(skipped, false);
    CHECK(totals.skipped_in_a_row == 4);
    CHECK(totals.stuck_in_a_row == 2);
    nlohmann::json parsed = to_json(totals);
    CHECK(parse_run_totals(parsed).stuck_in_a_row == 2);
    parsed.erase("stuck_in_a_row");  // as in versions without loss scales
    CHECK(parse_run_totals(parsed).stuck_in_a_row == 4);
    totals.add({.loss = 1.0, .tokens = {1, 1}}, false);
    CHECK(totals.stuck_in_a_row == 0);
}

TEST_CASE("the loss scale is reported if there is one", "[log]") {
    Report scaled;
    scaled.loss_scale = 32768.0;
    CHECK_THAT(scaled.line(), Catch::Contains("  scale 32768"));
    CHECK(scaled.json()["loss_scale"] == 32768.0);
    CHECK_THAT(Report{}.line(), !Catch::Contains("scale"));
    CHECK(!Report{}.json().contains("loss_scale"));
}

TEST_CASE("a training state survives its JSON bit for bit", "[log]") {
    TrainingState state;
    state.step = 12;
    state.seconds = 0.1 + 0.2;
    state.source = {{"epoch", 3}, {"window", 4}, {"window_step", 0}};
    state.totals.add({.loss = 1.0 / 3.0, .nll = 0.7, .gradient_norm = 1e-9, .tokens = {5, 6}, .divisor = 0.25}, false);
    state.best = {10, 2.0 / 3.0};
    state.loss_scale = {4096.0, 1999.0};
    const nlohmann::json written = nlohmann::json::parse(to_json(state, {}).dump());
    const TrainingState back = parse_training_state(written, "f");
    CHECK(back.step == 12);
    CHECK(back.seconds == state.seconds);
    CHECK(back.source == state.source);
    state.source = {{"next", 5}};  // not a batcher's
    CHECK(parse_training_state(to_json(state, {}), "f").source == state.source);
    CHECK(back.totals.divisor == 0.25);
    CHECK(back.best == state.best);
    REQUIRE(back.loss_scale.has_value());
    CHECK(back.loss_scale->scale == 4096.0);
    CHECK(back.loss_scale->good_steps == 1999.0);
    CHECK(!parse_training_state(to_json(TrainingState{}, {}), "f").loss_scale.has_value());
    nlohmann::json impossible = written;
    impossible["loss_scale"] = 0.0;
    CHECK_THAT(error_of([&] { parse_training_state(impossible, "f"); }), Catch::Contains("\"loss_scale\" is 0.0"));
    CHECK(to_json(back.totals) == to_json(state.totals));
    nlohmann::json broken = written;
    broken.erase("epoch");
    CHECK_THAT(error_of([&] { parse_training_state(broken, "f.safetensors"); }), Catch::Contains("f.safetensors"));
}

TEST_CASE("a checkpoint of another run is rejected with the difference", "[log]") {
    const RunIdentity then{
        .config = {{"training.seed", 1}, {"model", {{"heads", 4}}}}, .data = 7, .device = "cpu", .arithmetic = "F32"};
    const nlohmann::json parsed = to_json(TrainingState{}, then);
    CHECK(compare_identity(parsed, then, "f").empty());
    RunIdentity now = then;
    now.config["training.seed"] = 2;
    CHECK_THAT(error_of([&] { compare_identity(parsed, now, "f"); }),
               Catch::Contains("\"training.seed\" was 1 and is now 2"));
    now = then;
    now.config["model"]["heads"] = 8;
    CHECK_THAT(error_of([&] { compare_identity(parsed, now, "f"); }),
               Catch::Contains("model: \"attention.heads\" was 4 and is now 8"));
    now = then;
    now.config["model"].erase("heads");
    CHECK_THAT(error_of([&] { compare_identity(parsed, now, "f"); }), Catch::Contains("\"attention.heads\""));
    now.config["model"] = {{"attention", {{"heads", 4}}}};  // the same, written in sections
    CHECK(compare_identity(parsed, now, "f").empty());
    now = then;
    now.data = 8;
    CHECK_THAT(error_of([&] { compare_identity(parsed, now, "f"); }), Catch::Contains("training text"));
    now = then;
    now.device = "vulkan:0";
    CHECK_THAT(compare_identity(parsed, now, "f"), Catch::Contains("vulkan:0"));
    nlohmann::json damaged = parsed;
    damaged["data"] = 7.5;
    CHECK_THAT(error_of([&] { compare_identity(damaged, then, "f"); }), Catch::Contains("\"data\" is 7.5"));
}
