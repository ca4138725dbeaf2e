#include "train/first_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "model/model_chat.h"
#include "support/check.h"

namespace headscope {

namespace {

bool is_of_scores(const std::string& key) {
    return key == "output.head" || key == "output.labels" || key == "output.scored" || key == "output.layer";
}

void require_shape(const ModelDirectory& model, const ModelConfig& asked, const std::string& config_file) {
    const nlohmann::json theirs = flat_model_keys(model.config);
    const nlohmann::json ours = flat_model_keys(asked);
    // An output for scores may be added: it begins at 0.
    const bool adds_scores = model.config.output.head == OutputHead::Vocabulary;
    for (const auto& [key, value] : ours.items()) {
        const bool begins_anew =
            (adds_scores && is_of_scores(key)) || key == "output.temperature";  // which fitted the old weights
        if (theirs.at(key) != value && !begins_anew) {
            throw Error(
                fmt::format("'{}' has \"{}\" {}, but {} asks for {}: change \"model\" there, or start without --from",
                            model.path, key, theirs.at(key).dump(), config_file, value.dump()));
        }
    }
}

// Two tokenizers may have the same ids.
bool shares_vocabulary(const ModelDirectory& model) {
    const std::string ids = model.source_tokenizer->files().vocabulary;
    return model.source_tokenizer == model.target_tokenizer ||
           (!ids.empty() && ids == model.target_tokenizer->files().vocabulary);
}

// A model from whose weights a training may begin.
ModelDirectory open_trainable(const std::string& directory) {
    ModelDirectory model = open_model(directory);
    if (!blocks_in_file(model).empty()) {
        throw Error(
            fmt::format("'{}' has weights quantised in blocks, which training cannot change: make a model of "
                        "F32 first, by `headscope import {} --output FOLDER --precision f32`, and begin --from "
                        "FOLDER",
                        directory, directory));
    }
    return model;
}

ModelDirectory open_first_model(const TrainConfig& config, const std::string& directory) {
    ModelDirectory model = open_trainable(directory);
    const bool shared = shares_vocabulary(model);
    if (shared != config.tokenizer.shared) {
        throw Error(
            fmt::format("'{}' has {}, but {} asks for {}: set \"tokenizer.shared\" to {}, or start without --from",
                        directory, shared ? "one vocabulary for both languages" : "a vocabulary for each language",
                        config.file, shared ? "two" : "one", shared));
    }
    require_shape(model, config.model_config(*model.source_tokenizer, *model.target_tokenizer), config.file);
    return model;
}

}  // namespace

nlohmann::json config_from(nlohmann::json config, const std::string& directory, const Languages& languages) {
    constexpr double kGentle = 0.1;  // the highest learning rate, compared with that of a training from the start
    const ModelDirectory model = open_trainable(directory);
    const TaskTraits& task = *find_task(config.value("task", tasks().front().key));
    const auto width = static_cast<double>(model.config.d_model);
    nlohmann::json& training = config["training"];
    training["learning_rate_scale"] = kGentle * (task.has_reference || task.scores_samples ? kGentle : 1.0) *
                                      training["learning_rate_scale"].get<double>() *
                                      std::sqrt(width / config["model"]["d_model"].get<double>());
    training["max_length"] = std::min(training["max_length"].get<std::int64_t>(), model.config.max_length);
    const nlohmann::json chosen_output = config["model"].value("output", nlohmann::json::object());
    config["model"] = to_json(model.config);
    if (task.reads_labels && model.config.output.head == OutputHead::Vocabulary) {
        config["model"]["output"].update(chosen_output);
    } else if (task.gives_scores && !task.reads_labels) {
        config["model"]["output"]["head"] = "scalar";
    }
    if (task.reads_replies && has_chat_template(model)) {
        config["data"]["template"] = model.decoding->at(kChatKey);
    }
    if (task.has_reference) {
        config["data"]["reference"] = std::filesystem::absolute(directory).lexically_normal().string();
    }
    for (const char* key : {"source_vocabulary", "target_vocabulary"}) {
        config["model"].erase(key);
    }
    config["model"]["frame"].erase("mask_id");
    config["model"]["output"].erase("temperature");
    config["tokenizer"] = {{"vocabulary", std::max(model.config.source_vocabulary, model.config.target_vocabulary)},
                           {"shared", shares_vocabulary(model)}};
    for (const auto& [key, chosen] :
         {std::pair{"source_language", languages.source}, {"target_language", languages.target}}) {
        if (!chosen.empty()) {
            config["data"][key] = chosen;
        } else if (model.decoding != nullptr && model.decoding->contains(key)) {
            config["data"][key] = model.decoding->at(key);
        }
    }
    return config;
}

void require_first_model(const TrainConfig& config, const std::string& directory) {
    static_cast<void>(open_first_model(config, directory));
}

void try_first_model(Backend& backend, const TrainConfig& config, const std::string& directory) {
    const ModelDirectory model = open_first_model(config, directory);
    Parameters parameters(backend, model.config, false);
    load_parameters(backend, *model.weights, parameters);
}

void load_first_model(Learner& learner, const TrainConfig& config, const std::string& directory) {
    const ModelDirectory model = open_trainable(directory);
    require_shape(model, learner.model_config(), config.file);
    load_parameters(learner.backend(), *model.weights, describe(model.config).parameters, learner.parameters());
    learner.begin_optimizer();
}

}  // namespace headscope
