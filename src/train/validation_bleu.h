// BLEU of held-out text, as the weights that are being trained translate it. Paper 6.2.
#pragma once

#include <cstddef>

#include "backend/backend.h"
#include "data/corpus.h"
#include "infer/translator.h"
#include "train/training_data.h"

namespace headscope {

class ValidationBleu {
public:
    // Of `data.valid_text`, decoded as the model will be (`choices`: its decoding.json), but greedily. The parameters
    // are read where they lie, as they stand at each measure(), and outlive this.
    ValidationBleu(Backend& backend, const ModelConfig& config, const Parameters& parameters, TrainingData& data,
                   const DecodingChoices& choices, Compute compute);

    // 0 to 100, of greedy translations: cased, of 13a tokens. A line that cannot be translated counts as an empty one.
    double measure() const;
    std::size_t pairs() const { return text_.source.size(); }

private:
    Translator translator_;
    ParallelText text_;
    TranslationOptions options_;
};

}  // namespace headscope
