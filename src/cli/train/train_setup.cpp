#include "cli/train/train_setup.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "registry/registry.h"
#include "support/check.h"
#include "train/batch_size.h"
#include "train/default_config.h"
#include "train/first_model.h"
#include "train/step_rehearsal.h"
#include "train/text_parts.h"

namespace headscope {
namespace {

constexpr std::uint64_t kSplitSeed = 1;

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
        config.unset("compute");  // an older form of "precision"
    }
    if (options.batch) {
        const bool find = *options.batch == "auto";
        const nlohmann::json tokens = find ? nlohmann::json("auto") : nlohmann::json(std::stoll(*options.batch));
        config.set_by("--batch", "source_tokens", tokens);
        config.set_by("--batch", "target_tokens", tokens);
    }
}

}  // namespace

TrainSetup::TrainSetup(const TrainOptions& options, Log say) : options_(options), say_(std::move(say)) {
    ConfigOptions& given = options_.given;
    if (options_.overfit) {  // the limits are those of a run
        given.steps = given.tokens = std::nullopt;
        given.epochs = given.minutes = std::nullopt;
    }
    if (!given.of_texts()) {
        RunConfig config =
            given.config.empty() ? RunConfig::of_run(options_.output) : RunConfig::read(given.config, given.data);
        apply(given, config);
        take(std::move(config));
    }
}

void TrainSetup::open() {
    backend_ = open_device(options_.common.device(), options_.common.open);
    if (given_) {
        check_device();
    }
}

void TrainSetup::choose_config(const std::string& folder) {
    const ConfigOptions& given = options_.given;
    const std::string data = (std::filesystem::path(folder) / "data").string();
    nlohmann::json json = given.text.empty() ? config_for_pairs(data) : config_for_text(data);
    if (!options_.from.empty()) {
        json = config_from(std::move(json), options_.from, given.languages);
    }
    const std::string file = RunConfig::file_in(options_.output);
    say_(fmt::format(
        "chosen by the {}amount of text: {}{}", options_.from.empty() ? "" : "model and the ", describe(json),
        folder == options_.output ? fmt::format("; saved in {}, which you can edit and use again", file) : ""));
    RunConfig config(json, file);
    apply(given, config);
    take(std::move(config));
    check_device();
}

nlohmann::json TrainSetup::config_for_pairs(const std::string& folder) const {
    const TextParts text = split_texts(options_.given.source, options_.given.target, folder, kSplitSeed);
    say_(fmt::format(
        "{} pairs for training, {} for validation; left out: {} that share a side with validation pairs, {} "
        "with an empty side",
        text.train, text.valid, text.shared, text.empty));
    warn_of(text.unlearnable);
    return default_config(text, *backend_);
}

nlohmann::json TrainSetup::config_for_text(const std::string& folder) const {
    const DocumentParts text = split_documents(options_.given.text, options_.given.documents, folder, kSplitSeed);
    say_(fmt::format("{} documents for training, {} for validation; skipped {} duplicates of validation documents",
                     text.train, text.valid, text.shared));
    warn_of(text.unlearnable);
    return default_config(text, options_.given.task, *backend_);
}

void TrainSetup::warn_of(const UnlearnableLines& lines) const {
    if (lines.count() > 0 && options_.from.empty()) {
        say_(lines.warning());
    }
}

void TrainSetup::prepare_data(const std::string& folder, const RunFolder* resumed) {
    TokenizerOrigin origin{.reuse = resumed != nullptr, .warned = options_.given.of_texts()};
    if (!options_.from.empty()) {
        const ModelDirectory model = open_model(options_.from);
        for (const std::string& remark : model.remarks) {
            say_(remark);
        }
        origin.given = {model.source_tokenizer, model.target_tokenizer};
    }
    data_ = prepare_training_data(config_, folder, origin, say_);
    if (config_.training.find_batch) {
        RunConfig found = *given_;
        const std::int64_t tokens = resumed != nullptr ? resumed->recorded_batch() : find_batch();
        found.set("source_tokens", tokens);
        found.set("target_tokens", tokens);
        take(std::move(found));
    }
}

RunInputs TrainSetup::inputs() const {
    const InputFiles none(options_.common.open.settings);
    const ConfigOptions& given = options_.given;
    RunInputs inputs{.files = none, .config = none, .splits_texts = given.of_texts()};
    (options_.resume || options_.finish ? inputs.config : inputs.files).add(given.config);
    inputs.files.add({given.source, given.target, given.text, options_.from});
    std::vector<CorpusFiles> corpora = config_.data.train;
    corpora.push_back(config_.data.valid);
    for (const CorpusFiles& corpus : corpora) {
        inputs.files.add(corpus.all());
    }
    return inputs;
}

bool TrainSetup::lacks_data() const {
    std::vector<CorpusFiles> corpora = config_.data.train;
    corpora.push_back(config_.data.valid);
    return options_.given.data.empty() && !config_.training.find_batch &&
           std::all_of(corpora.begin(), corpora.end(), [](const CorpusFiles& corpus) {
               const std::vector<std::string> files = corpus.all();
               return std::none_of(files.begin(), files.end(),
                                   [](const std::string& file) { return std::filesystem::exists(file); });
           });
}

void TrainSetup::take(RunConfig config) {
    config_ = config.parsed();
    given_ = std::move(config);
}

void TrainSetup::check_device() const {
    static_cast<void>(arithmetic_of(config_, *backend_));
    if (!options_.from.empty()) {
        require_first_model(config_, options_.from);
    }
}

std::int64_t TrainSetup::find_batch() const {
    const ModelConfig model = config_.model_config(*data_.source_tokenizer, *data_.target_tokenizer);
    StepRehearsal rehearsal(*backend_, config_, model, arithmetic_of(config_, *backend_));
    const FoundBatch found = headscope::find_batch(rehearsal, config_, memory_limit(*backend_));
    say_(found.how);
    return found.tokens;
}

}  // namespace headscope
