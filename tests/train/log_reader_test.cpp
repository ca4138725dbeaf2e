#include "train/log_reader.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/io/temporary_folder.h"

using namespace headscope;

TEST_CASE("a log is read with all values for curves", "[log]") {
    const TemporaryFolder folder;
    const TrainingLog log = read_training_log(folder.write(
        "log.jsonl",
        "{\"kind\": \"train\", \"step\": 10, \"loss\": 3.5, \"nll\": 3.25, \"learning_rate\": 0.001}\n"
        "{\"kind\": \"validation\", \"step\": 10, \"loss\": 3.0, \"nll\": 2.5, \"mean_nll\": 2.25, \"bleu\": 12.5}\n"
        "{\"kind\": \"return\", \"step\": 10, \"from\": 20}\n"
        "{\"kind\": \"train\", \"step\": 20, \"loss\": null, \"nll\": \"?\"}\n"
        "{\"kind\": 7, \"step\": 20}\n{\"step\": 20}\n{\"kind\": \"train\", \"step\": -3}\n{\"kind\": \"tra"));
    REQUIRE(log.training.size() == 2);
    CHECK(log.training[0] == LossPoint{.step = 10, .loss = 3.5, .nll = 3.25, .learning_rate = 0.001});
    CHECK(log.training[1] == LossPoint{.step = 20});
    REQUIRE(log.validation.size() == 1);
    CHECK(log.validation[0] == LossPoint{.step = 10, .loss = 3.0, .nll = 2.5, .mean_nll = 2.25, .bleu = 12.5});
}

TEST_CASE("a log is read with what it measures beside the loss", "[log]") {
    const TemporaryFolder folder;
    const TrainingLog log = read_training_log(folder.write(
        "log.jsonl",
        "{\"kind\": \"train\", \"step\": 10, \"nll\": 3.25, \"reward\": 0.5, \"kl\": 1.5, \"kl_weight\": 0.1, "
        "\"length\": 12, \"cut\": 0, \"distinct\": 1, \"clipped\": 0.25, \"moved\": 0.125, \"value_loss\": 2, "
        "\"mood\": 7}\n"
        "{\"kind\": \"validation\", \"step\": 10, \"nll\": 2.5, \"accuracy\": 0.75, \"margin\": null}\n"));
    REQUIRE(log.training.size() == 1);
    CHECK(log.training[0].measures == Measures{{"reward", 0.5},
                                               {"kl", 1.5},
                                               {"kl_weight", 0.1},
                                               {"length", 12.0},
                                               {"cut", 0.0},
                                               {"distinct", 1.0},
                                               {"clipped", 0.25},
                                               {"moved", 0.125},
                                               {"value_loss", 2.0}});
    CHECK(log.validation.at(0).measures == Measures{{"accuracy", 0.75}});
}

TEST_CASE("points of a log are compared in all numbers that they have", "[log]") {
    const LossPoint point{.step = 1, .loss = 1.0};
    CHECK(point == LossPoint{.step = 1, .loss = 1.0});
    CHECK_FALSE(point == LossPoint{.step = 2, .loss = 1.0});
    CHECK_FALSE(point == LossPoint{.step = 1, .loss = 2.0});
    CHECK_FALSE(point == LossPoint{.step = 1, .loss = 1.0, .nll = 1.0});
    CHECK_FALSE(point == LossPoint{.step = 1, .loss = 1.0, .learning_rate = 1.0});
    CHECK_FALSE(point == LossPoint{.step = 1, .loss = 1.0, .mean_nll = 1.0});
    CHECK_FALSE(point == LossPoint{.step = 1, .loss = 1.0, .bleu = 1.0});
    CHECK_FALSE(point == LossPoint{.step = 1, .loss = 1.0, .measures = {{"kl", 1.0}}});
}

TEST_CASE("a missing log has no points", "[log]") {
    const TemporaryFolder folder;
    CHECK(read_training_log(folder.file("none.jsonl")) == TrainingLog{});
}

TEST_CASE("a file that is not a log is distinguished from an incomplete log", "[log]") {
    const TemporaryFolder folder;
    const auto complaint = [&](const std::string& text) {
        return error_of([&] { require_training_log(folder.write("some.txt", text)); });
    };
    for (const char* log : {"", "{\"kind\": \"tra", "{\"kind\": \"train\", \"step\": 1}\n{\"ki"}) {
        CHECK(complaint(log).empty());
    }
    for (const char* other : {"Good morning.\n", "garbage", "{\"kind\": \"tra\n", "[1]\n", "7", "{}\n"}) {
        CHECK_THAT(complaint(other), Catch::Contains("some.txt' line 1 is not a JSON object of a training log") &&
                                         Catch::Contains("log.jsonl"));
    }
}
