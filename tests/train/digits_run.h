// A small training on the digits task, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/model_directory.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"
#include "train/digits_task.h"
#include "train/run.h"

namespace headscope {

// Writes train.tsv and valid.tsv and returns a configuration for a training of a few seconds.
inline nlohmann::json write_digits(const TemporaryFolder& folder) {
    std::string train, valid;
    for (const DigitsPair& pair : make_digits_task(1200, 1)) {
        (train.size() < 40'000 ? train : valid) += pair.digits + "\t" + pair.words + "\n";
    }
    folder.write("train.tsv", train);
    folder.write("valid.tsv", valid);
    return nlohmann::json::parse(R"({
        "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2},
        "data": {"train": {"tsv": "train.tsv"}, "valid": {"tsv": "valid.tsv"}},
        "tokenizer": {"type": "bpe", "vocabulary": 72, "shared": true},
        "training": {"steps": 24, "source_tokens": 512, "target_tokens": 1024, "warmup_steps": 40, "max_length": 64,
                     "attention_dropout": 0.1, "activation_dropout": 0.1, "report_every": 10, "validate_every": 8,
                     "checkpoint_every": 8, "checkpoint_minutes": 0, "keep_last": 3, "average_last": 2}
    })");
}

struct DigitsRun {
    explicit DigitsRun(const TemporaryFolder& folder, nlohmann::json settings, std::string output,
                       const std::string& device = "cpu")
        : output_folder(folder.file(output)), config(parse_train_config(settings, folder.file("digits.json"), "")) {
        check_train_config(config);
        backend = open_device(device, environment_options());
        hooks.say = [this](const std::string& line) { said += line + "\n"; };
    }

    TrainingData prepare_data(bool reuse = false) const {
        return prepare_training_data(config, output_folder + "/tokenizer", {.reuse = reuse}, hooks.say);
    }

    Run& start(bool resume = false, Purpose purpose = Purpose::Train) {
        TrainingData data = prepare_data(resume);
        learner.reset(new Learner(make_learner(*backend, config, data, hooks)));
        std::unique_ptr<StepSource> steps = source ? source(data) : nullptr;
        training = std::make_unique<Run>(*learner, config, std::move(data), output_folder, hooks, std::move(steps));
        if (resume) {
            training->resume(purpose);
        }
        return *training;
    }

    std::vector<double> weights() const { return to_host<double>(*backend, learner->parameters().flat_values()); }

    std::string output_folder;
    TrainConfig config;
    RunHooks hooks;
    std::function<std::unique_ptr<StepSource>(const TrainingData&)> source;  // empty: a batcher
    std::string said;
    std::unique_ptr<Backend> backend;  // outlives the learner's tensors
    std::unique_ptr<Learner> learner;
    std::unique_ptr<Run> training;
};

// In the layout of Parameters::flat_values().
inline std::vector<double> weights_of_model(Backend& backend, const std::string& directory) {
    return to_host<double>(backend,
                           read_parameters(backend, open_model_directory(directory), DType::F32)->flat_values());
}

// Stops after this many further steps.
inline std::function<bool()> stop_after(int steps) {
    return [left = steps]() mutable { return left-- <= 0; };
}

// A run that was stopped after `steps` steps and resumed to its end.
inline std::unique_ptr<DigitsRun> stopped_and_finished(const TemporaryFolder& folder, const nlohmann::json& settings,
                                                       const std::string& output, int steps) {
    DigitsRun first(folder, settings, output);
    first.hooks.stop_requested = stop_after(steps);
    CHECK(first.start().train() == RunEnd::Stopped);
    auto second = std::make_unique<DigitsRun>(folder, settings, output);
    CHECK(second->start(true).train() == RunEnd::Finished);
    return second;
}

// The lines of one kind in log.jsonl.
inline std::vector<nlohmann::json> logged(const std::string& output_folder, const std::string& kind) {
    std::ifstream file(output_folder + "/log.jsonl");
    std::vector<nlohmann::json> found;
    for (std::string line; std::getline(file, line);) {
        nlohmann::json entry = nlohmann::json::parse(line);
        if (entry["kind"] == kind) {
            found.push_back(std::move(entry));
        }
    }
    return found;
}

}  // namespace headscope
