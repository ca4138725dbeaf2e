// A parser of random weights, as a model directory: its trees are those that a test gives it as targets.
#pragma once

#include <string>

#include "tests/viewer/worker_client.h"

namespace headscope::viewer {

constexpr const char* kParsed = "The cat sleeps.";
constexpr const char* kSymbols = "(S (NP DT NN )NP (VP VBZ )VP . )S";

// The symbols of its vocabulary.
inline std::string write_parser(const TemporaryFolder& folder, const std::string& known = kSymbols) {
    const std::vector<std::string> sentences{"The cat sleeps .", "The dog sees a cat ."};
    const Tokenizer words =
        Tokenizer::from_bytes(train_tokenizer({.sentences = sentences, .vocabulary_size = 40}), "words");
    const Tokenizer symbols = Tokenizer::from_bytes(
        train_tokenizer({.sentences = {known}, .type = TokenizerType::Words, .vocabulary_size = 100}), "symbols");
    const std::unique_ptr<Backend> backend = open_device("cpu");
    ModelConfig config = tiny_config(words.size());
    config.target_vocabulary = symbols.size();
    config.max_length = 200;
    const TinyModel model(*backend, config, 5);
    write_model_directory(*backend, folder.file("parser"), config, *model.parameters, DType::F32, words, symbols);
    return folder.file("parser");
}

}  // namespace headscope::viewer
