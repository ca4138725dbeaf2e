// Holds the greedy translations of one device against another's.
#pragma once

#include <array>
#include <vector>

#include "eval/agreement.h"
#include "infer/translator.h"

namespace headscope {

// One of two devices, the same model on it, and what it made of the same lines. All outlive the comparison.
struct TranslatingSide {
    Backend& backend;
    const Translator& translator;
    const std::vector<TranslatedSentence>& sentences;
    Compute compute = Compute::F32;  // of products, as it was while translating
};

// Where two outputs part, both sides score the two candidates by a teacher-forced pass over the tokens before. Lines
// that hold nothing or could not be translated are no part of the result.
Agreement compare_translations(const std::array<TranslatingSide, 2>& sides);

}  // namespace headscope
