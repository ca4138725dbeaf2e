// The files of a model's tokenizers, in a model directory or a training's folder. docs/model-directory.md.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "text/tokenizer.h"

namespace headscope {

// Segmenters, then vocabularies; each of both sides, then of one.
inline constexpr std::array kTokenizerFiles{"sentencepiece.model",   "tokenizer.json",  "source.model",
                                            "target.model",          "vocabulary.json", "source.vocabulary.json",
                                            "target.vocabulary.json"};

// The files of one side's tokenizer; no vocabulary if the segmenter numbers its pieces itself.
struct TokenizerPaths {
    std::filesystem::path segmenter, vocabulary;

    // Error if a file is missing or invalid.
    std::shared_ptr<const Tokenizer> open() const;
    bool operator==(const TokenizerPaths&) const = default;
};

struct TokenizersPaths {
    TokenizerPaths source, target;

    bool shared() const { return source == target; }
    bool exist() const;
};

// Those in a folder; the usual names if there are none.
TokenizersPaths tokenizers_in(const std::filesystem::path& folder);

// Of source and target, one object if they are the same.
using TokenizerPair = std::pair<std::shared_ptr<const Tokenizer>, std::shared_ptr<const Tokenizer>>;
// Error, naming what may be there, if the folder lacks them.
TokenizerPair load_tokenizers(const std::filesystem::path& folder);

// Removes the files of all tokenizers in a folder.
void remove_tokenizers(const std::filesystem::path& folder);

// One file where both sides have the same content.
void write_tokenizers(const std::filesystem::path& folder, const Tokenizer& source, const Tokenizer& target);

}  // namespace headscope
