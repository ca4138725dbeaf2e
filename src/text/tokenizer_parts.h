// What a tokenizer's file gives.
#pragma once

#include <memory>

#include "text/segmenter.h"
#include "text/vocabulary.h"

namespace headscope {

struct TokenizerParts {
    std::shared_ptr<const Segmenter> segmenter;
    std::shared_ptr<const Vocabulary> vocabulary;
};

}  // namespace headscope
