// Compares the greedy translations of two devices.
#pragma once

#include <array>
#include <vector>

#include "eval/agreement.h"
#include "infer/translator.h"

namespace headscope {

// One of two devices with the same model, and its translations of the same lines. All outlive the comparison.
struct TranslatingSide {
    Backend& backend;
    const Translator& translator;
    const std::vector<TranslatedSentence>& sentences;
    Compute compute = Compute::F32;  // of products, as used for the translations
};

// At the first difference of two outputs, both devices score the two candidates with a teacher-forced pass over the
// previous tokens. Empty lines and lines that could not be translated are skipped.
Agreement compare_translations(const std::array<TranslatingSide, 2>& sides);

}  // namespace headscope
