// Models of random weights, as model directories.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/model_directory.h"
#include "registry/registry.h"
#include "tests/io/temporary_folder.h"
#include "text/tokenizer_training.h"

namespace headscope::viewer {

inline std::string write_language_model(const TemporaryFolder& folder, const std::string& name, Architecture family,
                                        std::uint64_t seed = 3, const std::function<void(ModelConfig&)>& change = {},
                                        const std::vector<std::string>& controls = {"<mask>"}) {
    const Tokenizer vocabulary = Tokenizer::from_bytes(
        train_tokenizer({.sentences = {"the small dog sees the big cat", "a cat sleeps on the mat",
                                       "the big dog sleeps on a small mat"},
                         .vocabulary_size = 44 + static_cast<std::int32_t>(controls.size()),
                         .control_pieces = controls}),
        "tokenizer");
    ModelConfig config;
    config.architecture = family;
    config.encoder_layers = family == Architecture::CausalLm ? 0 : 2;
    config.decoder_layers = family == Architecture::MaskedLm ? 0 : 2;
    config.d_model = 32;
    config.feed_forward.d_ff = 64;
    config.attention.heads = 4;
    config.attention.d_k = config.attention.d_v = 8;
    config.embedding.tying = Tying::None;
    config.max_length = 64;
    config.source_vocabulary = config.target_vocabulary = vocabulary.size();
    if (change) {
        change(config);
    }
    if (family == Architecture::MaskedLm || config.generation == Generation::MaskPredict) {
        config.frame.mask_id = vocabulary.vocabulary().find("<mask>").value();
    }
    const std::unique_ptr<Backend> backend = open_device("cpu");
    Parameters parameters(*backend, config, false);
    parameters.initialise(seed);
    write_model_directory(*backend, folder.file(name), config, parameters, DType::F32, vocabulary, vocabulary);
    return folder.file(name);
}

// A causal one with a chat template, whose replies make no sense.
inline std::string write_chat_model(const TemporaryFolder& folder, const std::string& name, std::int64_t longest = 64) {
    write_language_model(folder, name, Architecture::CausalLm, 4,
                         [&](ModelConfig& config) { config.max_length = longest; }, {"<user>", "<assistant>", "<end>"});
    folder.write(name + "/decoding.json", R"({"chat": "plain"})");
    return folder.file(name);
}

}  // namespace headscope::viewer
