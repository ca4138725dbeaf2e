#include "cli/train/train_request.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "model/config.h"
#include "support/check.h"
#include "support/usage_error.h"
#include "train/schedule.h"
#include "train/training_options.h"

namespace headscope {
namespace {

// A cool-down over the last of the configuration's steps keeps its share when these are replaced.
void adapt_cooldown(const ConfigOptions& options, RunConfig& config) {
    const std::int64_t cooldown = config.count("cooldown_steps");
    const std::int64_t steps = config.count("steps");
    if (options.steps && *options.steps < cooldown) {
        throw Error(
            fmt::format("--steps {} is less than \"training.cooldown_steps\" ({}) of {}: ask for at least as many, or "
                        "lower that",
                        *options.steps, cooldown, config.file()));
    }
    if (!options.steps && cooldown > 0 && cooldown <= steps) {  // otherwise checking the configuration fails
        config.unset("cooldown_steps");
        config.set("cooldown", static_cast<double>(cooldown) / static_cast<double>(steps));
    }
}

// Any limit of the command line replaces all of the configuration's, since one that stayed might end the run first.
void replace_limits(const ConfigOptions& options, RunConfig& config, const Log& note) {
    if (!options.steps && !options.epochs && !options.tokens && !options.minutes) {
        return;
    }
    adapt_cooldown(options, config);
    std::vector<std::string> now;
    std::vector<std::string> gone;
    const auto replace = [&](const char* option, const char* key, const auto& value) {
        if (value) {
            now.push_back(fmt::format("{} {}", *value, key));
        } else if (config.count(key) > 0) {
            gone.push_back(fmt::format("{} {}", config.count(key), key));
        }
        config.unset(key);
        if (value) {
            config.set_by(option, fmt::format("training.{}", key), *value);
        }
    };
    replace("--steps", "steps", options.steps);
    replace("--epochs", "epochs", options.epochs);
    replace("--tokens", "tokens", options.tokens);
    replace("--minutes", "minutes", options.minutes);
    if (!gone.empty()) {
        note(fmt::format("limits: {}; the {} of the configuration no longer apply", fmt::join(now, " or "),
                         fmt::join(gone, " and ")));
    }
}

// The rate is highest at the end of the warm-up.
void set_learning_rate(double highest, RunConfig& config) {
    const auto warmup = config.number("training.warmup_steps", TrainingOptions{}.warmup_steps);
    const Schedule schedule{.d_model = config.number("model.d_model", ModelConfig{}.d_model), .warmup_steps = warmup};
    config.set_by("--learning-rate", "training.learning_rate_scale", highest / schedule(warmup));
}

void apply(const ConfigOptions& options, RunConfig& config, const Log& note) {
    replace_limits(options, config, note);
    if (options.learning_rate) {
        set_learning_rate(*options.learning_rate, config);
    }
    if (options.validate_bleu) {
        config.set_by("--validate-bleu", "training.validate_bleu", *options.validate_bleu);
    }
    if (!options.chat.empty()) {
        config.set_by("--template", "data.template", options.chat);
    }
    if (!options.reward.empty()) {
        config.set_by("--reward", "data.reward", std::filesystem::absolute(options.reward).lexically_normal().string());
    }
    if (options.kl) {
        config.set_by("--kl", "rollouts.kl", *options.kl);
    }
    if (options.beta) {
        config.set_by("--beta", "training.beta", *options.beta);
    }
    if (options.watch_gradients) {
        config.set("watch_gradients", true);
    }
    if (options.tensorboard) {
        config.set("tensorboard", true);
    }
    if (options.precision) {
        config.set_by("--precision", "training.precision", name_of(*options.precision));
        config.unset("compute");  // an older form of "precision"
    }
    if (options.batch) {
        const bool find = *options.batch == "auto";
        const nlohmann::json tokens = find ? nlohmann::json("auto") : nlohmann::json(std::stoll(*options.batch));
        config.set_by("--batch", "training.source_tokens", tokens);
        config.set_by("--batch", "training.target_tokens", tokens);
    }
}

}  // namespace

TrainingRequest request_of(const TrainOptions& options, const Log& note) {
    ConfigOptions given = options.given;
    if (options.overfit) {  // the limits are those of a run
        given.steps = given.tokens = std::nullopt;
        given.epochs = given.minutes = std::nullopt;
    }
    if (given.texts.given() && traits(given.texts.task).rolls_out && given.reward.empty()) {
        throw UsageError(fmt::format("--task {} needs a model that scores responses: name it with --reward",
                                     name_of(given.texts.task)));
    }
    const InputFiles none(options.common.open.settings);
    TrainingRequest request{.texts = given.texts,
                            .output = options.output,
                            .from = options.from,
                            .resume = options.resume,
                            .purpose = options.finish ? Purpose::Finish : Purpose::Train,
                            .inputs = {.files = none, .config = none}};
    if (!given.texts.given()) {
        request.config =
            given.config.empty() ? RunConfig::of_run(options.output) : RunConfig::read(given.config, given.data);
    }
    (options.resume || options.finish ? request.inputs.config : request.inputs.files).add(given.config);
    request.adjust = [given = std::move(given), note](RunConfig& config) { apply(given, config, note); };
    return request;
}

}  // namespace headscope
