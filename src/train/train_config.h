// The training configuration: one JSON file with "task" and the sections "model", "data", "tokenizer" and "training".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/precision.h"
#include "model/config.h"
#include "text/tokenizer.h"
#include "train/data_config.h"
#include "train/risk_options.h"
#include "train/rollout_options.h"
#include "train/schedule.h"
#include "train/training_options.h"

namespace headscope {

struct Objective;

struct TokenizerOptions {
    struct Side {
        TokenizerType type = TokenizerType::Bpe;  // byte-pair encoding (paper 5.1)
        std::int64_t vocabulary = 8000;
        std::int64_t minimum = 1;  // how often a word must occur to get an id, of the type "words"
        std::int64_t endings = 0;  // and an ending of rarer words (TokenizerTraining)

        bool operator==(const Side&) const = default;
    };
    Side source;
    Side target;         // the same unless "tokenizer.target" says otherwise
    bool shared = true;  // one vocabulary for both languages
};

struct TrainConfig {
    std::string file;  // for messages
    Task task = Task::Translate;
    nlohmann::json model;  // see flat_model_keys()
    DataConfig data;
    TokenizerOptions tokenizer;
    TrainingOptions training;
    RolloutOptions rollouts = {};
    RiskOptions risk = {};

    // The configuration of the model, given the vocabularies or their sizes and the id of the mask, if it needs one.
    ModelConfig model_config(const Tokenizer& source, const Tokenizer& target) const;
    ModelConfig model_config(std::int64_t source_vocabulary, std::int64_t target_vocabulary,
                             std::int32_t mask_id = 0) const;
    bool needs_mask() const;  // in the vocabulary
    // Of a new vocabulary, besides those of DataConfig::target_languages(), which follow them in that of the source.
    std::vector<std::string> control_pieces() const;
    std::int64_t texts_of_a_pair() const;  // that a step learns
    Schedule schedule(const ModelConfig& model) const;
    Objective objective() const;
    // Everything that decides the weights after a given step. Runs that differ here are different runs.
    nlohmann::json identity() const;
};

// The configuration's "precision" or "compute" on this device. Error, naming the key, if the device lacks it.
Arithmetic arithmetic_of(const TrainConfig& config, const Backend& backend);

// The file of a configuration: `wanted`, or if that is no file and does not end with ".json", the configuration of that
// name that comes with the program ("paper/base-en-de"). Error lists their names if there is no such one.
std::string find_config(const std::string& wanted, const std::vector<std::filesystem::path>& search_path);

// Data paths are relative to `data_directory` or, if that is empty, to the configuration's folder. Errors name the file
// and the key, also for unknown keys.
nlohmann::json read_config_json(const std::string& file);
TrainConfig read_train_config(const std::string& file, const std::string& data_directory);
// The same configuration with the keys of its model as flat_model_keys() writes them.
nlohmann::json with_flat_model(nlohmann::json config);
TrainConfig parse_train_config(const nlohmann::json& json, const std::string& file, const std::string& data_directory);
// Checks the options against each other. Call it again after changing some.
void check_train_config(const TrainConfig& config);

}  // namespace headscope
