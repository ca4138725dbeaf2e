#include "train/validator.h"

#include <cmath>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "infer/decoding_choices.h"
#include "io/atomic_file.h"
#include "train/step_options.h"

namespace headscope {
namespace {

std::filesystem::path decoding_file(const std::string& directory) {
    return std::filesystem::path(directory) / kDecodingFile;
}

bool has_decoding_file(const std::string& directory) {
    return std::filesystem::exists(std::filesystem::symlink_status(decoding_file(directory)));
}

}  // namespace

Validator::Validator(Learner& learner, const TrainingOptions& t, TrainingData& data, const std::string& model_directory)
    : learner_(learner),
      pairs_(std::make_shared<const ExampleSource>(std::exchange(data.valid, {}))),
      batcher_(pairs_, micro_budget(t), 0, special_ids(learner.model_config())) {
    if (!data.valid_text.source.empty()) {
        bleu_.emplace(learner, data, run_decoding_choices(model_directory, t.max_length));
    }
}

Validation Validator::measure() const {
    Validation found{.loss = learner_.validate(batcher_)};
    const auto of_the_mean = [&](const auto& measure_weights) {
        learner_.mean()->swap();
        const double result = measure_weights();
        learner_.mean()->swap();
        return result;
    };
    if (learner_.mean() != nullptr) {
        found.mean_nll = of_the_mean([&] { return nll(); });
    }
    if (bleu_ && std::isfinite(found.best_nll())) {
        const auto measure_bleu = [&] { return bleu_->measure(); };
        found.bleu = found.mean_is_better() ? of_the_mean(measure_bleu) : measure_bleu();
    }
    return found;
}

DecodingChoices run_decoding_choices(const std::string& directory, std::int64_t max_length) {
    return has_decoding_file(directory) ? read_decoding_choices(directory)
                                        : DecodingChoices{.split_longer_than = max_length};
}

void write_decoding_choices(const std::string& directory, std::int64_t max_length) {
    if (!has_decoding_file(directory)) {
        atomic_write_file(decoding_file(directory).string(),
                          nlohmann::json{{"split_longer_than", max_length}}.dump(2) + "\n");
    }
}

}  // namespace headscope
