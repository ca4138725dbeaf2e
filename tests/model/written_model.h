// A small model directory for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/model_directory.h"
#include "small_model.h"
#include "tests/io/temporary_folder.h"
#include "tests/text/sentences.h"
#include "text/tokenizer_training.h"

namespace headscope {

inline constexpr std::int32_t kPieces = 60;

inline std::string tokenizer_file(const TemporaryFolder& folder, const std::string& name,
                                  std::int32_t pieces = kPieces) {
    TokenizerTraining training;
    training.sentences = number_sentences();
    training.vocabulary_size = pieces;
    train_tokenizer(training, folder.file(name));
    return folder.file(name);
}

inline ModelConfig text_config() {
    ModelConfig config = small_config();
    config.source_vocabulary = config.target_vocabulary = kPieces;
    return config;
}

// A model directory "model" with a shared tokenizer.
struct Written {
    Written() : model(text_config(), "cpu"), path(folder.file("model")) {
        tokenizer = tokenizer_file(folder, "pieces.model");
        write(DType::F32);
    }
    void write(DType dtype) {
        const Tokenizer pieces = Tokenizer::load(tokenizer);
        write_model_directory(*model.backend, path, model.config, model.parameters, dtype, pieces, pieces);
    }
    // `key` with dots before the keys of sections.
    void edit_config(std::string key, const nlohmann::json& value) {
        std::replace(key.begin(), key.end(), '.', '/');
        nlohmann::json config = nlohmann::json::parse(read_all(path + "/config.json"));
        config[nlohmann::json::json_pointer("/" + key)] = value;
        folder.write("model/config.json", config.dump());
    }

    TemporaryFolder folder;
    SmallModel model;
    std::string path;
    std::string tokenizer;
};

}  // namespace headscope
