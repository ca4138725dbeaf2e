// Models of random weights, as model directories.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/frame_of_config.h"
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
    const Tokenizer source = config.input.patches()
                                 ? Tokenizer::from_bytes(picture_pieces_file(patches_of(config)->shape), "pictures")
                                 : Tokenizer::from_bytes(vocabulary.files().segmenter, "tokenizer");
    write_model_directory(*backend, folder.file(name), config, parameters, DType::F32, source,
                          family == Architecture::Encoder ? source : vocabulary);
    return folder.file(name);
}

// One that writes captions of pictures of 3 x 3 patches.
inline std::string write_captioner(const TemporaryFolder& folder, const std::string& name) {
    return write_language_model(folder, name, Architecture::EncoderDecoder, 3, [](ModelConfig& config) {
        config.input = {.kind = InputKind::Patches, .picture = 12, .patch = 4, .channels = 3, .class_token = false};
        config.input.mean = config.input.deviation = {0.5, 0.5, 0.5};
        config.source_vocabulary = config.input.channels * kChannelValues;
        config.frame.source_end = {};
    });
}

// A ViT of pictures of 3 x 3 patches, which has three classes, and a picture.
inline std::string picture_classifier() {
    return HEADSCOPE_SOURCE_DIR "/tests/import/models/hf-vit";
}
inline std::string some_picture() {
    return picture_classifier() + "/picture.png";
}

// A causal one with a chat template, whose replies make no sense.
inline std::string write_chat_model(const TemporaryFolder& folder, const std::string& name, std::int64_t longest = 64) {
    write_language_model(folder, name, Architecture::CausalLm, 4,
                         [&](ModelConfig& config) { config.max_length = longest; }, {"<user>", "<assistant>", "<end>"});
    folder.write(name + "/decoding.json", R"({"chat": "plain"})");
    return folder.file(name);
}

}  // namespace headscope::viewer
