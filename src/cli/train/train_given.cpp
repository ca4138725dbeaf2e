#include "cli/train/train_given.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "train/batch_size.h"
#include "train/default_config.h"
#include "train/step_rehearsal.h"
#include "train/text_parts.h"

namespace headscope {
namespace {

// Of the steps that a configuration asks for, where its number of steps is replaced.
void adapt_cooldown(const ConfigOptions& options, RunConfig& config) {
    const std::int64_t cooldown = config.count("cooldown_steps");
    const std::int64_t steps = config.count("steps");
    if (options.steps && *options.steps < cooldown) {
        throw Error(
            fmt::format("--steps {} is less than \"training.cooldown_steps\" ({}) of {}: ask for at least as many, or "
                        "lower that",
                        *options.steps, cooldown, config.file()));
    }
    if (!options.steps && cooldown > 0 && cooldown <= steps) {  // else the configuration is refused
        config.unset("cooldown_steps");
        config.set("cooldown", static_cast<double>(cooldown) / static_cast<double>(steps));
    }
}

// Any limit of the command line replaces all of the configuration's: whichever stayed might end the run first.
void replace_limits(const ConfigOptions& options, RunConfig& config) {
    if (!options.steps && !options.epochs && !options.tokens && !options.minutes) {
        return;
    }
    adapt_cooldown(options, config);
    const auto replace = [&](const char* option, const char* key, const auto& value) {
        config.unset(key);
        if (value) {
            config.set_by(option, key, *value);
        }
    };
    replace("--steps", "steps", options.steps);
    replace("--epochs", "epochs", options.epochs);
    replace("--tokens", "tokens", options.tokens);
    replace("--minutes", "minutes", options.minutes);
}

void apply(const ConfigOptions& options, RunConfig& config) {
    replace_limits(options, config);
    if (options.validate_bleu) {
        config.set_by("--validate-bleu", "validate_bleu", *options.validate_bleu);
    }
    if (options.watch_gradients) {
        config.set("watch_gradients", true);
    }
    if (options.tensorboard) {
        config.set("tensorboard", true);
    }
    if (options.precision) {
        config.set_by("--precision", "precision", name_of(*options.precision));
        config.unset("compute");  // which says less
    }
    if (options.batch) {
        const bool find = *options.batch == "auto";
        const nlohmann::json tokens = find ? nlohmann::json("auto") : nlohmann::json(std::stoll(*options.batch));
        config.set_by("--batch", "source_tokens", tokens);
        config.set_by("--batch", "target_tokens", tokens);
    }
}

}  // namespace

RunConfig given_config(const ConfigOptions& options, const std::string& output) {
    RunConfig config =
        options.config.empty() ? RunConfig::of_run(output) : RunConfig::read(options.config, options.data);
    apply(options, config);
    return config;
}

RunConfig config_of_texts(const TrainOptions& options, const Backend& device, const std::string& folder,
                          const Say& say) {
    constexpr std::uint64_t kSeed = 1;
    const TextParts text = part_texts(options.given.source, options.given.target,
                                      (std::filesystem::path(folder) / "data").string(), kSeed);
    say(
        fmt::format("{} pairs to train on, {} held out to validate with, {} left out for sharing a side with those, {} "
                    "for an empty side",
                    text.train, text.valid, text.shared, text.empty));
    if (text.unlearnable.count() > 0 && options.from.empty()) {
        say(text.unlearnable.warning());
    }
    const nlohmann::json json = default_config(text, device);
    const std::string file = RunConfig::kept_in(options.output);
    say(fmt::format(
        "chosen by the amount of text: {}{}", describe(json),
        folder == options.output ? fmt::format("; all of it goes into {}, to be edited and given back", file) : ""));
    RunConfig config(json, file);
    apply(options.given, config);
    return config;
}

RunInputs inputs_of(const TrainOptions& options, const DataConfig& data) {
    const InputFiles none(options.common.open.settings);
    RunInputs inputs{.files = none, .config = none, .parts_texts = options.given.of_texts()};
    (options.resume || options.finish ? inputs.config : inputs.files).add(options.given.config);
    inputs.files.add({options.given.source, options.given.target, options.from});
    std::vector<CorpusFiles> corpora = data.train;
    corpora.push_back(data.valid);
    for (const CorpusFiles& corpus : corpora) {
        for (const auto* files : {&corpus.source, &corpus.target, &corpus.tsv}) {
            inputs.files.add(*files);
        }
    }
    return inputs;
}

std::int64_t found_batch(Backend& backend, const TrainConfig& config, const TrainingData& data, const Say& say) {
    const ModelConfig model = config.model_config(data.source_tokenizer->size(), data.target_tokenizer->size());
    StepRehearsal rehearsal(backend, config, model, arithmetic_of(config, backend));
    const FoundBatch found = find_batch(rehearsal, config, memory_limit(backend));
    say(found.how);
    return found.tokens;
}

void set_batch(RunConfig& config, std::int64_t tokens) {
    config.set("source_tokens", tokens);
    config.set("target_tokens", tokens);
}

}  // namespace headscope
