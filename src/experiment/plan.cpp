#include "experiment/plan.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "io/scratch_folder.h"
#include "support/check.h"
#include "train/run_config.h"
#include "train/step_estimate.h"
#include "train/step_options.h"
#include "train/step_rehearsal.h"
#include "train/training_data.h"

namespace headscope {
namespace {

PlannedTrial measure(Backend& backend, const TrainConfig& config, const TrainingData& data) {
    const ModelConfig model = config.model_config(*data.source_tokenizer, *data.target_tokenizer);
    const TrainingOptions& t = config.training;
    StepRehearsal rehearsal(backend, config, model, arithmetic_of(config, backend));
    const std::unique_ptr<Batcher> batcher = make_batcher(t, data);
    const double seconds = estimate_step(rehearsal, t, typical_step(t, &data), batcher.get()).seconds;
    const auto each = static_cast<double>(std::max<std::int64_t>(batcher->about_steps_per_epoch(), 1));
    const double tokens = static_cast<double>(data.train->predicted_tokens()) / each;
    const double steps = t.limits().about_steps(each, tokens, seconds).steps;
    return {.parameters = count_parameters(model), .steps = steps, .minutes = seconds * steps / 60.0, .problem = {}};
}

PlannedTrial plan(Backend& backend, const Trial& trial, const TrainingData& data) {
    try {
        return measure(backend, RunConfig(trial.config, trial.name).parsed(), data);
    } catch (const Error& error) {
        return {.problem = error.what()};
    }
}

}  // namespace

std::vector<PlannedTrial> plan_trials(Backend& backend, const nlohmann::json& base, const std::vector<Trial>& trials) {
    const ScratchFolder folder;
    const TrainConfig config = RunConfig(base, "the base").parsed();
    const TrainingData data = prepare_training_data(config, folder.path(), {}, [](const std::string&) {});
    std::vector<PlannedTrial> planned;
    std::map<nlohmann::json, PlannedTrial> measured;
    for (const Trial& trial : trials) {
        nlohmann::json without_seed = trial.config;
        without_seed["training"].erase("seed");
        const auto [one, is_new] = measured.try_emplace(without_seed);
        if (is_new) {
            one->second = plan(backend, trial, data);
        }
        planned.push_back(one->second);
    }
    return planned;
}

}  // namespace headscope
