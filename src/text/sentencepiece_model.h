// Reads SentencePiece models (Kudo and Richardson, 2018) with BPE, unigram, word or character pieces. Paper 5.1.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

struct SentencePieceModel {
    std::shared_ptr<const Segmenter> segmenter;
    std::shared_ptr<const Vocabulary> vocabulary;
};

// Error that names `name` if the bytes are not a valid model.
SentencePieceModel open_sentencepiece(std::string_view bytes, const std::string& name);

}  // namespace headscope
