#include "train/train_config.h"

#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "data/batch.h"
#include "data/corruption.h"
#include "io/config_reader.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "support/check.h"
#include "support/edit_distance.h"
#include "train/objective.h"

namespace headscope {
namespace {

// In the order of TokenizerType.
const std::vector<std::string> kTokenizerTypes{"bpe", "unigram", "wordpiece", "words"};
constexpr std::int64_t kShortestBlock = 8;  // of a language model

TokenizerOptions::Side parse_side(ConfigReader& reader, TokenizerOptions::Side side) {
    side.type = static_cast<TokenizerType>(reader.choice("type", static_cast<int>(side.type), kTokenizerTypes));
    side.vocabulary = reader.integer("vocabulary", side.vocabulary, 8, 1'000'000);
    if (reader.has("minimum") && side.type != TokenizerType::Words) {
        reader.fail("minimum", "is only for the type \"words\": leave it out");
    }
    side.minimum = reader.integer("minimum", side.minimum, 1, 1'000'000'000);
    return side;
}

TokenizerOptions parse_tokenizer(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file, "tokenizer");
    TokenizerOptions options;
    options.source = parse_side(reader, options.source);
    options.target = options.source;
    options.shared = reader.boolean("shared", options.shared);
    if (reader.has("target")) {
        if (options.shared) {
            reader.fail("target", "needs \"tokenizer.shared\" false: one tokenizer has one type");
        }
        ConfigReader target(reader.child("target"), file, "tokenizer.target");
        options.target = parse_side(target, {.type = options.source.type, .vocabulary = options.source.vocabulary});
        target.finish();
    }
    reader.finish();
    return options;
}

void add_identity(nlohmann::json& json, const std::string& prefix, const TokenizerOptions::Side& side) {
    json[prefix + ".type"] = kTokenizerTypes[static_cast<std::size_t>(side.type)];
    json[prefix + ".vocabulary"] = side.vocabulary;
    if (side.type == TokenizerType::Words) {
        json[prefix + ".minimum"] = side.minimum;
    }
}

Task task_of(ConfigReader& reader) {
    std::vector<std::string> keys;
    for (const TaskTraits& task : tasks()) {
        keys.emplace_back(task.key);
    }
    return tasks()[static_cast<std::size_t>(reader.choice("task", 0, keys))].task;
}

// "model.architecture" follows "task". It is added only where it is not the default, since earlier runs lack it, and
// before old names are read, whose meaning depends on it.
nlohmann::json model_for_task(nlohmann::json model, Task task, const std::string& file) {
    const char* wanted = traits(task).family;
    if (model.is_object()) {
        if (model.value("architecture", nlohmann::json(wanted)) != wanted) {
            throw Error(
                fmt::format("{}: \"model.architecture\" must be \"{}\" for the \"task\" \"{}\", found {}: change "
                            "one, or leave \"architecture\" out",
                            file, wanted, name_of(task), model["architecture"].dump()));
        }
        if (wanted != std::string_view(tasks().front().family)) {
            model["architecture"] = wanted;
        }
    }
    return flat_model_keys(model, file, "model");
}

}  // namespace

ModelConfig TrainConfig::model_config(const Tokenizer& source, const Tokenizer& target) const {
    return model_config(source.size(), target.size(), headscope::mask_id(target));
}

ModelConfig TrainConfig::model_config(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                                      std::int32_t mask_id) const {
    nlohmann::json json = model;
    json["frame.mask_id"] = needs_mask() ? mask_id : -1;
    json["source_vocabulary"] = source_vocabulary;
    json["target_vocabulary"] = target_vocabulary;
    const ModelConfig parsed = parse_model_config(json, file, "model");
    check_model_config(parsed, file);
    return parsed;
}

bool TrainConfig::needs_mask() const {
    return traits(task).masks_pieces || model.value("generation", nlohmann::json()) == "mask_predict";
}

Schedule TrainConfig::schedule(const ModelConfig& of) const {
    return {of.d_model,     training.warmup_steps, training.learning_rate_scale, training.cooldown_steps,
            training.steps, training.cooldown};
}

Objective TrainConfig::objective() const {
    return traits(task).gives_scores ? reward_objective()
           : traits(task).compares   ? preference_objective(training.beta)
                                     : Objective();
}

nlohmann::json TrainConfig::identity() const {
    nlohmann::json json = {
        {"model", model},
        {"tokenizer.shared", tokenizer.shared},
    };
    add_identity(json, "tokenizer", tokenizer.source);
    if (tokenizer.target != tokenizer.source) {  // earlier runs lack it
        add_identity(json, "tokenizer.target", tokenizer.target);
    }
    if (!traits(task).reads_pairs) {
        json["task"] = name_of(task);
    }
    json.update(identity_of(training));
    if (traits(task).rolls_out) {
        json.update(identity_of(rollouts));
    }
    json.update(data.identity());
    return json;
}

nlohmann::json with_flat_model(nlohmann::json config) {
    if (config.is_object() && config.contains("model")) {
        const std::string file = "the configuration";
        const bool names_architecture = config["model"].contains("architecture");
        ConfigReader reader(config, file, "");
        config["model"] = model_for_task(config["model"], task_of(reader), file);
        if (!names_architecture) {
            config["model"].erase("architecture");  // it follows the task
        }
    }
    return config;
}

TrainConfig parse_train_config(const nlohmann::json& json, const std::string& file, const std::string& data_directory) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    const std::string& base = data_directory.empty() ? folder : data_directory;
    ConfigReader reader(json, file, "");
    TrainConfig config;
    config.file = file;
    config.task = task_of(reader);
    config.model = model_for_task(reader.child("model"), config.task, file);
    for (const char* key : {"source_vocabulary", "target_vocabulary", "frame.mask_id"}) {
        if (config.model.contains(key)) {
            reader.fail(std::string("model.") + key, "comes from the tokenizer: leave it out");
        }
    }
    config.data = parse_data_config(reader.child("data"), file, base, config.task);
    config.tokenizer = parse_tokenizer(reader.child("tokenizer"), file);
    config.training = parse_training_options(reader.child("training"), file);
    if (traits(config.task).rolls_out) {
        config.rollouts =
            parse_rollout_options(reader.has("rollouts") ? reader.child("rollouts") : nlohmann::json::object(), file);
        const std::int64_t of_rollout = config.rollouts.epochs * config.rollouts.minibatches;
        config.training.steps = (config.training.steps + of_rollout - 1) / of_rollout * of_rollout;
    }
    if (!traits(config.task).has_source) {
        config.training.source_tokens = config.training.target_tokens;  // there is no source
    }
    reader.finish();
    // Detect an impossible model now, not after training the tokenizer.
    static_cast<void>(config.model_config(config.tokenizer.source.vocabulary, config.tokenizer.target.vocabulary));
    return config;
}

std::string find_config(const std::string& wanted, const std::vector<std::filesystem::path>& search_path) {
    namespace fs = std::filesystem;
    if (fs::exists(wanted) || wanted.ends_with(".json")) {
        return wanted;
    }
    std::set<std::string> names;
    for (const fs::path& place : search_path) {
        const fs::path folder = place / "configs";
        std::error_code failure;
        fs::recursive_directory_iterator entry(folder, failure);
        for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
            const fs::path name = entry->path().lexically_relative(folder).replace_extension();
            if (entry->path().extension() != ".json") {
                continue;
            }
            if (name == wanted) {
                return entry->path().string();
            }
            names.insert(name.string());
        }
    }
    const std::string guess = nearest(wanted, {names.begin(), names.end()});
    throw Error(fmt::format("'{}' is neither a file nor a configuration that comes with headscope ({}){}", wanted,
                            names.empty() ? "they are missing" : fmt::format("{}", fmt::join(names, ", ")),
                            guess.empty() ? "" : fmt::format("; did you mean '{}'?", guess)));
}

nlohmann::json read_config_json(const std::string& file) {
    if (std::filesystem::is_directory(file)) {
        throw Error(
            fmt::format("'{}' is a directory, expected a training configuration, such as those in "
                        "assets/configs",
                        file));
    }
    std::istringstream stream(read_whole_file(file, "the training configuration '" + file + "'"));
    return parse_json(stream, file);
}

TrainConfig read_train_config(const std::string& file, const std::string& data_directory) {
    return parse_train_config(read_config_json(file), file, data_directory);
}

namespace {

// A pair of the maximum length must fit in a step, in its parts and in the model.
void check_lengths(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const std::int64_t padded = padded_length(t.max_length, t.length_multiple);
    const auto check = [&](const char* key, std::int64_t tokens) {
        if (tokens < padded) {
            throw Error(
                fmt::format("{}: \"{}\" ({}) has no room for one sentence of \"training.max_length\" ({}, "
                            "padded to {}): raise it or lower \"training.max_length\"",
                            config.file, key, tokens, t.max_length, padded));
        }
    };
    check("training.source_tokens", t.source_tokens);
    check("training.target_tokens", t.target_tokens);
    if (t.micro_batch_tokens > 0) {
        check("training.micro_batch_tokens", t.micro_batch_tokens);
    }
    const std::int64_t longest =
        config.model_config(config.tokenizer.source.vocabulary, config.tokenizer.target.vocabulary).max_length;
    if (t.max_length > longest) {
        throw Error(
            fmt::format("{}: \"training.max_length\" ({}) exceeds \"model.max_length\" ({}): lower the "
                        "first or raise the second",
                        config.file, t.max_length, longest));
    }
}

void check_text_task(const TrainConfig& config) {
    const char* name = name_of(config.task);
    if (config.training.validate_bleu > 0) {
        throw Error(
            fmt::format("{}: \"training.validate_bleu\" ({}) translates held-out pairs, but the \"task\" \"{}\" "
                        "has none: leave it out",
                        config.file, config.training.validate_bleu, name));
    }
    if (!config.tokenizer.shared) {
        throw Error(fmt::format("{}: \"tokenizer.shared\" must be true for the \"task\" \"{}\", which has one text",
                                config.file, name));
    }
    if (config.training.max_length < kShortestBlock) {
        throw Error(fmt::format("{}: \"training.max_length\" must be at least {} for the \"task\" \"{}\", got {}",
                                config.file, kShortestBlock, name, config.training.max_length));
    }
}

// A comparison has two classes, one of which is right: the better response.
void check_smoothing_of_comparisons(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const auto fail = [&](const std::string& problem) {
        throw Error(fmt::format("{}: {} for the \"task\" \"{}\", which compares two responses", config.file, problem,
                                name_of(config.task)));
    };
    if (t.label_smoothing >= 0.5) {
        fail(fmt::format("\"training.label_smoothing\" must be less than 0.5, got {},", t.label_smoothing));
    }
    if (t.smoothing != TrainingOptions{}.smoothing) {
        fail("\"training.smoothing_over\" must be left out");
    }
    if (t.smoothing_towards != TrainingOptions{}.smoothing_towards) {
        fail("\"training.label_smoothing_towards\" must be left out");
    }
}

void check_rollouts(const TrainConfig& config) {
    const TrainingOptions& t = config.training;
    const auto fail = [&](const std::string& problem) { throw Error(fmt::format("{}: {}", config.file, problem)); };
    if (!config.data.valid.empty()) {
        fail("\"data.valid\" holds prompts, which have no loss to validate: leave it out");
    }
    if (t.label_smoothing != 0.0) {
        fail(fmt::format("\"training.label_smoothing\" must be 0 for rollouts, got {}", t.label_smoothing));
    }
    if (t.precision == Precision::F16) {
        fail(
            "\"training.precision\" (--precision) \"f16\" is not for rollouts, whose weights of tokens have no loss "
            "scale: use \"bf16\" or \"f32\"");
    }
    for (const CorpusFiles& corpus : config.data.train) {
        if (corpus.weight != 1.0) {
            fail(fmt::format("\"weight\" of a corpus must be 1 for rollouts, which take each prompt as often, got {}",
                             corpus.weight));
        }
    }
    if (t.find_batch) {
        fail(
            "\"training.source_tokens\" cannot be \"auto\" for rollouts, a step of which is one of "
            "\"rollouts.minibatches\"");
    }
    if (config.rollouts.max_tokens >= t.max_length) {
        fail(fmt::format("\"rollouts.max_tokens\" ({}) leaves no room for a prompt in \"training.max_length\" ({})",
                         config.rollouts.max_tokens, t.max_length));
    }
}

void check_responses_task(const TrainConfig& config) {
    const char* name = name_of(config.task);
    const TrainingOptions& t = config.training;
    const auto fail = [&](const std::string& problem) { throw Error(fmt::format("{}: {}", config.file, problem)); };
    if (traits(config.task).gives_scores && config.model.value("output.head", "vocabulary") != "scalar") {
        fail(fmt::format("\"model.output.head\" must be \"scalar\" for the \"task\" \"{}\"", name));
    }
    if (!traits(config.task).gives_scores && config.model.value("output.head", "vocabulary") != "vocabulary") {
        fail(fmt::format(
            "\"model.output.head\" must be \"vocabulary\" for the \"task\" \"{}\": go on with a model that is "
            "no reward model",
            name));
    }
    if (traits(config.task).compares) {
        check_smoothing_of_comparisons(config);
    }
    if (traits(config.task).rolls_out) {
        check_rollouts(config);
    }
    if (!traits(config.task).has_reference) {
        return;
    }
    for (const auto& [key, rate] : {std::pair{"residual_dropout", t.residual_dropout},
                                    {"embedding_dropout", t.embedding_dropout},
                                    {"attention_dropout", t.attention_dropout},
                                    {"activation_dropout", t.activation_dropout}}) {
        if (rate > 0.0) {
            fail(
                fmt::format("\"training.{}\" must be 0 for the \"task\" \"{}\", whose probabilities are compared "
                            "with those of a reference model, got {}",
                            key, name, rate));
        }
    }
    if (!config.model.value("output.adaptive.cutoffs", nlohmann::json::array()).empty()) {
        fail(fmt::format("the \"task\" \"{}\" needs a model with one softmax, without \"output.adaptive\"", name));
    }
}

}  // namespace

Arithmetic arithmetic_of(const TrainConfig& config, const Backend& backend) {
    const TrainingOptions& t = config.training;
    if (t.precision) {
        return arithmetic_for(
            backend, *t.precision,
            fmt::format("{}: \"training.precision\" (--precision) {}", config.file, name_of(*t.precision)));
    }
    const Support support = backend.products(t.compute);
    if (support.level != SupportLevel::Native) {
        throw Error(
            fmt::format("{}: \"training.compute\": {} has no fast {} products ({}): use \"f32\" (--precision f32), "
                        "or choose another --device",
                        config.file, backend.device().id, name_of(t.compute), support.reason));
    }
    return {.compute = t.compute};
}

void check_train_config(const TrainConfig& config) {
    check_lengths(config);
    check_training_options(config.training, config.file);
    if (!traits(config.task).reads_pairs) {
        check_text_task(config);
    }
    if (traits(config.task).reads_replies) {
        check_responses_task(config);
    }
    if (config.training.beta != TrainingOptions{}.beta &&
        !(traits(config.task).compares && traits(config.task).has_reference)) {
        throw Error(
            fmt::format("{}: \"training.beta\" ({}) weighs the distance from a reference model in comparisons, which "
                        "the \"task\" \"{}\" does not make: leave it out",
                        config.file, config.training.beta, name_of(config.task)));
    }
    if (config.training.smoothing_towards == SmoothingTowards::Unigram &&
        !config.model.value("output.adaptive.cutoffs", nlohmann::json::array()).empty()) {
        throw Error(config.file +
                    ": \"training.label_smoothing_towards\" must be \"uniform\" with "
                    "\"model.output.adaptive\", each softmax of which is smoothed over its own classes");
    }
    if (config.training.expert_balance != TrainingOptions{}.expert_balance &&
        config.model.value("feed_forward.experts.count", 0) == 0) {
        throw Error(
            fmt::format("{}: \"training.expert_balance\" ({}) balances experts: it needs "
                        "\"model.feed_forward.experts.count\", or leave it out",
                        config.file, config.training.expert_balance));
    }
    if (config.training.validate_bleu > 0 && config.data.valid.empty()) {
        throw Error(
            fmt::format("{}: \"training.validate_bleu\" ({}) needs held-out pairs: name a validation text in "
                        "\"data.valid\", or leave it out",
                        config.file, config.training.validate_bleu));
    }
    if (config.tokenizer.shared) {
        return;
    }
    if (config.model.value("embedding.tying", "all") == "all") {
        throw Error(config.file + ": \"model.embedding.tying\" \"all\" needs \"tokenizer.shared\" true");
    }
}

}  // namespace headscope
