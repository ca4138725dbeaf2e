#include "train/train_config.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "data/corruption.h"
#include "io/config_reader.h"
#include "io/strict_json.h"
#include "io/whole_file.h"
#include "model/family.h"
#include "support/check.h"
#include "support/edit_distance.h"
#include "text/tokenizer_training.h"
#include "train/objective.h"

namespace headscope {
namespace {

// In the order of TokenizerType.
const std::vector<std::string> kTokenizerTypes{"bpe", "unigram", "wordpiece", "words"};

TokenizerOptions::Side parse_side(ConfigReader& reader, TokenizerOptions::Side side) {
    side.type = static_cast<TokenizerType>(reader.choice("type", static_cast<int>(side.type), kTokenizerTypes));
    side.vocabulary = reader.integer("vocabulary", side.vocabulary, 8, 1'000'000);
    for (const char* key : {"minimum", "endings"}) {
        if (reader.has(key) && side.type != TokenizerType::Words) {
            reader.fail(key, "is only for the type \"words\": leave it out");
        }
    }
    side.minimum = reader.integer("minimum", side.minimum, 1, 1'000'000'000);
    side.endings = reader.integer("endings", side.endings, 0, 1'000'000'000);
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
        if (side.endings > 0) {
            json[prefix + ".endings"] = side.endings;
        }
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
        if (!traits(task).any_family && model.value("architecture", nlohmann::json(wanted)) != wanted) {
            throw Error(
                fmt::format("{}: \"model.architecture\" must be \"{}\" for the \"task\" \"{}\", found {}: change "
                            "one, or leave \"architecture\" out",
                            file, wanted, name_of(task), model["architecture"].dump()));
        }
        if (wanted != std::string_view(tasks().front().family) && !model.contains("architecture")) {
            model["architecture"] = wanted;
        }
    }
    return flat_model_keys(model, file, "model");
}

// A new model of corpora with target languages reads the language's token before each source. obtain_tokenizers() makes
// these pieces, in this order.
void name_target_languages(TrainConfig& config) {
    const std::vector<std::string> names = config.data.target_languages();
    if (!names.empty() && config.model.value("input.kind", "text") == "patches") {
        throw Error(
            fmt::format("{}: a corpus has a \"target_language\", whose token stands before a text, but "
                        "\"model.input\" reads pictures: leave it out",
                        config.file));
    }
    if (names.empty() || config.model.contains("frame.languages") || config.model.contains("frame.source_begin")) {
        return;  // it goes on with a model that has languages
    }
    auto id = kFirstControlPiece + static_cast<std::int32_t>(config.control_pieces().size());
    for (const std::string& name : names) {
        config.model["frame.languages"][name] = id++;
    }
    config.model["frame.source_begin"] = {"target_language"};
}

}  // namespace

std::vector<std::string> TrainConfig::control_pieces() const {
    return control_pieces_of(task, training.max_length - 1, needs_mask());
}

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
    const nlohmann::json family = model.value("architecture", nlohmann::json(tasks().front().family));
    return traits(task).masks_pieces || model.value("generation", nlohmann::json()) == "mask_predict" ||
           std::ranges::any_of(families(),
                               [&](const FamilyTraits& one) { return family == one.key && one.fills_masks; });
}

std::int64_t TrainConfig::texts_of_a_pair() const {
    return traits(task).scores_samples ? risk.texts() : 1;
}

Schedule TrainConfig::schedule(const ModelConfig& of) const {
    return {of.d_model,     training.warmup_steps, training.learning_rate_scale, training.cooldown_steps,
            training.steps, training.cooldown};
}

Objective TrainConfig::objective() const {
    const TaskTraits& facts = traits(task);
    if (facts.reads_labels) {
        const nlohmann::json& head = model.at("output.head");
        return head == "classes" ? class_objective() : head == "labels" ? labels_objective() : number_objective();
    }
    return facts.gives_scores ? reward_objective() : facts.compares ? preference_objective(training.beta) : Objective();
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
    if (task != tasks().front().task) {  // which earlier runs did not name
        json["task"] = name_of(task);
    }
    json.update(identity_of(training));
    if (traits(task).rolls_out) {
        json.update(identity_of(rollouts));
    }
    if (traits(task).scores_samples) {
        json.update(identity_of(risk));
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
    if (traits(config.task).scores_samples) {
        config.risk = parse_risk_options(reader.has("risk") ? reader.child("risk") : nlohmann::json::object(), file);
    }
    if (!traits(config.task).has_source) {
        config.training.source_tokens = config.training.target_tokens;  // there is no source
    }
    reader.finish();
    name_target_languages(config);
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

}  // namespace headscope
