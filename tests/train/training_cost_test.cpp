// What a run says about its cost: log.jsonl and the card in its model's directory.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "eval/training_cost.h"
#include "model/training_card.h"
#include "tests/train/digits_run.h"
#include "train/average_models.h"
#include "train/step_options.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

// Of the first `steps` steps, from the batches themselves.
double expected_flops(const DigitsRun& run, int steps) {
    const TrainingData data = run.prepare_data(true);
    const TrainingOptions& t = run.config.training;
    const std::unique_ptr<Batcher> batcher = make_batcher(t, data);
    const TrainingFlops count(run.learner->model_config(), run.learner->parameters().total());
    double sum = 0.0;
    for (int step = 0; step < steps; ++step) {
        sum += count.of(batcher->micro_batches(batcher->next().examples, part_budget(t))).total();
    }
    return sum;
}

nlohmann::json flops_of(const DigitsRun& run) {
    nlohmann::json found = nlohmann::json::array();
    for (const nlohmann::json& line : logged(run.output_folder, "train")) {
        found.push_back(line.at("flops"));
    }
    return found;
}

}  // namespace

TEST_CASE("the log has the operations of all steps so far, also after a stop", "[cost][resume]") {
    const TemporaryFolder folder;
    DigitsRun whole(folder, write_digits(folder), "whole");
    whole.start().train();
    const nlohmann::json flops = flops_of(whole);
    REQUIRE(flops.size() == 3);  // after steps 10, 20 and 24
    CHECK(flops[0] == expected_flops(whole, 10));
    CHECK(flops[2] == expected_flops(whole, 24));
    const auto resumed = stopped_and_finished(folder, write_digits(folder), "stopped", 13);
    CHECK(flops_of(*resumed) == flops);
}

TEST_CASE("operations are unknown after steps of a version that did not count them", "[cost]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "out");
    run.start().train();
    const std::string file = folder.file("out/checkpoints/step-00000024.safetensors");
    nlohmann::json state = Checkpoint::open(file).state();
    CHECK(parse_training_state(state, file).flops == expected_flops(run, 24));
    state.erase("flops");
    CHECK(!parse_training_state(state, file).flops);
    write_checkpoint(*run.backend, file, tensors_of(*run.learner), state);
    nlohmann::json longer = write_digits(folder);
    longer["training"]["steps"] = 30;
    DigitsRun further(folder, longer, "out");
    further.start(true).train();
    further.training->write_model(folder.file("out/model"));
    CHECK(!logged(folder.file("out"), "train").back().contains("flops"));
    CHECK(!read_training_card(folder.file("out/model")).contains("flops"));
}

TEST_CASE("a model has a card of what its training cost", "[cost]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "out");
    run.start().train();
    const std::string model = folder.file("out/model");
    run.training->write_model(model);
    const nlohmann::json card = read_training_card(model);
    CHECK(card.at("steps") == 24);
    CHECK(card.at("flops") == expected_flops(run, 24));
    CHECK(card.at("seconds") > 0.0);
    CHECK(card.at("target_tokens") > 24 * 500);
    CHECK_THAT(card.at("device").get<std::string>(), Contains("cpu ("));
    CHECK(card.at("arithmetic") == "F32");
    CHECK(!card.contains("estimated_flops"));  // it took less than a minute

    // Written again, without training, it keeps its card; another model in its place has none.
    DigitsRun again(folder, write_digits(folder), "out");
    again.start(true, Purpose::Finish).write_model(model);
    CHECK(read_training_card(model) == card);
    write_digits(folder);
    folder.write("out/training.json", write_digits(folder).dump());
    average_models(*run.backend, {folder.file("out/checkpoints/step-00000016.safetensors")}, model);
    CHECK(read_training_card(model).is_null());
    again.training->write_model(model);  // whose card is lost
    CHECK(read_training_card(model).at("device") == "cpu");
    folder.write("out/model/training.json", "[1]");
    CHECK_THAT(error_of([&] { read_training_card(model); }), Contains("model/training.json: expected an object"));
}

TEST_CASE("a training of minutes has the paper's estimate, of the device's sustained speed", "[cost]") {
    const TemporaryFolder folder;
    DigitsRun run(folder, write_digits(folder), "out");
    run.hooks.clock = [seconds = 0.0]() mutable { return seconds += 10.0; };
    run.start().train();
    run.training->write_model(folder.file("out/model"));
    const nlohmann::json card = read_training_card(folder.file("out/model"));
    const double sustained = card.at("sustained_flops_per_second");
    CHECK(sustained > 1e8);
    CHECK(card.at("estimated_flops") == estimated_flops(card.at("seconds"), 1.0, sustained));
}
