// BLEU of held-out text, as the weights that are being trained translate it. Paper 6.2.
#pragma once

#include <cstddef>

#include "data/corpus.h"
#include "infer/translator.h"
#include "train/learner.h"
#include "train/training_data.h"

namespace headscope {

class ValidationBleu {
public:
    // Takes `data.valid_text`. Decodes with the model's `choices` (decoding.json), but greedily, and with the weights
    // that `learner`, which must outlive this, has at each measure().
    ValidationBleu(const Learner& learner, TrainingData& data, const DecodingChoices& choices);

    // 0 to 100, cased, of 13a tokens. A line that cannot be translated counts as an empty one.
    double measure() const;
    std::size_t pairs() const { return text_.source.size(); }

private:
    Translator translator_;
    ParallelText text_;
    TranslationOptions options_;
};

}  // namespace headscope
