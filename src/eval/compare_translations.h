// Compares the greedy outputs of two devices: translations, completions or filled masks.
#pragma once

#include <array>
#include <vector>

#include "eval/agreement.h"
#include "infer/loaded_model.h"

namespace headscope {

// One of two devices with the same model, and its outputs for the same lines. All outlive the comparison. The output of
// a masked language model is the tokens of its masks in order, each predicted with all of them masked.
struct TranslatingSide {
    Backend& backend;
    const LoadedModel& translator;
    const std::vector<TextResult>& sentences;
    Compute compute = Compute::F32;  // of products, as used for the translations
};

// At the first difference of two outputs, both devices score the two candidates with a teacher-forced pass over the
// previous tokens. Of the masks of a line, which do not depend on each other, the one with the largest gap counts.
// Empty lines and lines without an output are skipped.
Agreement compare_translations(const std::array<TranslatingSide, 2>& sides);

}  // namespace headscope
