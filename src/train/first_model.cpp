#include "train/first_model.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "import/open_model.h"
#include "support/check.h"

namespace headscope {

namespace {

void require_shape(const ModelDirectory& model, const ModelConfig& asked, const std::string& config_file) {
    const nlohmann::json theirs = to_json(model.config);
    const nlohmann::json ours = to_json(asked);
    for (const auto& [key, value] : ours.items()) {
        if (theirs.at(key) != value) {
            throw Error(
                fmt::format("'{}' has \"{}\" {}, but {} asks for {}: change \"model\" there, or start without --from",
                            model.path, key, theirs.at(key).dump(), config_file, value.dump()));
        }
    }
}

ModelDirectory open_first_model(const TrainConfig& config, const std::string& directory) {
    ModelDirectory model = open_model(directory);
    // A run keeps tokenizers, but no vocabularies beside them.
    for (const Tokenizer* tokenizer : {model.source_tokenizer.get(), model.target_tokenizer.get()}) {
        if (!tokenizer->has_own_ids()) {
            throw Error(
                fmt::format("'{}' takes ids from {}: training cannot continue such a model; start without "
                            "--from",
                            directory, tokenizer->name()));
        }
    }
    const bool shared = model.source_tokenizer == model.target_tokenizer;
    if (shared != config.tokenizer.shared) {
        throw Error(
            fmt::format("'{}' has {}, but {} asks for {}: set \"tokenizer.shared\" to {}, or start without --from",
                        directory, shared ? "one tokenizer for both languages" : "a tokenizer for each language",
                        config.file, shared ? "two" : "one", shared));
    }
    require_shape(model, config.model_config(*model.source_tokenizer, *model.target_tokenizer), config.file);
    return model;
}

}  // namespace

void require_first_model(const TrainConfig& config, const std::string& directory) {
    static_cast<void>(open_first_model(config, directory));
}

void try_first_model(Backend& backend, const TrainConfig& config, const std::string& directory) {
    const ModelDirectory model = open_first_model(config, directory);
    Parameters parameters(backend, model.config, false);
    load_parameters(backend, *model.weights, parameters);
}

void load_first_model(Learner& learner, const TrainConfig& config, const std::string& directory) {
    const ModelDirectory model = open_model(directory);
    require_shape(model, learner.model_config(), config.file);
    load_parameters(learner.backend(), *model.weights, learner.parameters());
    learner.begin_optimizer();
}

}  // namespace headscope
