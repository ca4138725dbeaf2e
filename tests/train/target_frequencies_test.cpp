#include "train/target_frequencies.h"

#include <catch2/catch.hpp>

#include "data/pair_source.h"
#include "support/check.h"
#include "tests/model/small_model.h"
#include "tests/train/digits_run.h"
#include "train/learner.h"
#include "train/training_options.h"

#include <nlohmann/json.hpp>

using namespace headscope;

namespace {

// Two texts of a language model, of which three positions and one have labels.
class Blocks final : public ExampleSource {
public:
    Epoch epoch(std::int64_t number) const override {
        return {.number = number, .items = {0, 1}, .starts = {0, 1, 2}, .offsets = {}};
    }
    Example example(const Epoch& /*epoch*/, std::uint32_t number) const override {
        return number == 0 ? Example{.target = {1, 5, 6}, .labels = {5, 6, 2}}
                           : Example{.target = {4, 4}, .labels = {kNoTarget, 6}};
    }
    SideCounts tokens(const Epoch& /*epoch*/) const override { return {.target = 5}; }
    SideCounts longest() const override { return {.target = 3}; }
    std::int64_t predicted_tokens() const override { return 4; }
    std::uint64_t fingerprint() const override { return 1; }
};

}  // namespace

TEST_CASE("frequencies count the pieces of targets and their ends", "[smoothing]") {
    // 8 predicted tokens: 5, 6, 5, end; 7, end; 5, end.
    const PairSource pairs(
        {{.source = {9}, .target = {5, 6, 5}}, {.source = {9, 9}, .target = {7}}, {.source = {9}, .target = {5}}});
    CHECK(target_frequencies(pairs, Frame{}, 10) ==
          std::vector<double>{0, 0, 3.0 / 8, 0, 0, 3.0 / 8, 1.0 / 8, 1.0 / 8, 0, 0});
}

TEST_CASE("frequencies of a language model's targets are those of its labels", "[smoothing]") {
    CHECK(target_frequencies(Blocks(), Frame{}, 7) == std::vector<double>{0, 0, 0.25, 0, 0, 0.25, 0.5});
}

TEST_CASE("a learner smooths towards its prior, in training and validation", "[smoothing]") {
    const ModelConfig config = small_config();
    const std::vector<Example> pairs = random_pairs(config, 3, 1);
    const Frame frame = frame_of(config);
    const auto classes = static_cast<std::size_t>(config.target_vocabulary);
    std::vector<double> one(classes);
    one[5] = 1.0;  // all that is shared goes to one token
    const std::vector<double> even(classes, 1.0 / static_cast<double>(classes));
    const std::unique_ptr<Backend> backend = open_device("cpu");
    struct Losses {
        double training, validation, nll;
    };
    const auto losses = [&](const std::vector<double>& prior) {
        Learner learner(*backend, config, {.loss = {.epsilon = 0.1F}, .prior = prior});
        const LossSums sums = learner.step({make_batch(pairs, frame, 0)}, 1, 0.0);
        const Batcher batcher(pairs, {}, 1, frame);
        const ValidationLoss found = learner.validate(batcher);
        return Losses{to_host<double>(*backend, sums.loss)[0], found.loss, found.nll};
    };
    const Losses without = losses({});
    const Losses evenly = losses(even);
    const Losses to_one = losses(one);
    CHECK(evenly.training == Approx(without.training).epsilon(1e-5));
    CHECK(evenly.validation == Approx(without.validation).epsilon(1e-5));
    CHECK(to_one.nll == without.nll);
    CHECK(std::abs(to_one.training - without.training) > 1e-3 * without.training);
    CHECK(std::abs(to_one.validation - without.validation) > 1e-3 * without.validation);
}

TEST_CASE("frequencies are of all classes", "[smoothing]") {
    const nlohmann::json settings = {
        {"steps", 1}, {"label_smoothing_towards", "unigram"}, {"smoothing_over", "other_classes"}};
    const TrainingOptions options = parse_training_options(settings, "c.json");
    CHECK_THROWS_WITH(check_training_options(options, "c.json"),
                      Catch::Contains("\"training.smoothing_over\" must be \"all_classes\""));
}

TEST_CASE("the shares of clusters add up", "[adaptive]") {
    CHECK(shares_of_clusters({0.5, 0.25, 0.125, 0.125}, {1, 3}) ==
          "adaptive softmax: 50.0 % of the predicted tokens are in the head, 37.5 % in cluster 1, 12.5 % in cluster 2");
}

TEST_CASE("a run with an adaptive softmax learns and goes on where it ended", "[adaptive]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["model"]["tying"] = "none";
    settings["model"]["output_layer"] = "adaptive";
    settings["model"]["adaptive_cutoffs"] = {12, 30};
    settings["training"]["steps"] = 8;
    DigitsRun whole(folder, settings, "whole");
    CHECK(whole.start().train() == RunEnd::Finished);
    CHECK_THAT(whole.said, Catch::Contains("adaptive softmax: ") && Catch::Contains(" in cluster 2"));
    CHECK(stopped_and_finished(folder, settings, "parts", 4)->weights() == whole.weights());
    settings["training"]["label_smoothing_towards"] = "unigram";
    CHECK_THROWS_WITH(DigitsRun(folder, settings, "unigram"),
                      Catch::Contains("\"training.label_smoothing_towards\" must be \"uniform\""));
}

TEST_CASE("a run smoothed towards frequencies goes on where it ended", "[smoothing]") {
    const TemporaryFolder folder;
    nlohmann::json settings = write_digits(folder);
    settings["training"]["label_smoothing_towards"] = "unigram";
    settings["training"]["weight_decay"] = 0.1;
    settings["training"]["steps"] = 8;
    DigitsRun whole(folder, settings, "whole");
    whole.start().train();
    CHECK(stopped_and_finished(folder, settings, "parts", 4)->weights() == whole.weights());
    settings["training"].erase("label_smoothing_towards");
    DigitsRun evenly(folder, settings, "evenly");
    evenly.start().train();
    CHECK(evenly.weights() != whole.weights());
}
