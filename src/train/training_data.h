// From the configuration's files to tokenizers and encoded sentence pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/example_source.h"
#include "text/tokenizer.h"
#include "train/train_config.h"

namespace headscope {

using Say = std::function<void(const std::string& line)>;

struct TrainingData {
    std::string source_tokenizer_file, target_tokenizer_file;  // the same where the vocabulary is shared
    std::shared_ptr<const Tokenizer> source_tokenizer, target_tokenizer;
    std::shared_ptr<const ExampleSource> train;
    std::vector<Pair> valid;  // may be empty
    ParallelText valid_text;  // the first "training.validate_bleu" pairs of it as they are written, too long or not
    // A run may only go on with the data that it began with.
    std::uint64_t fingerprint() const { return train->fingerprint(); }
};

// Where a run's tokenizers come from.
struct TokenizerOrigin {
    bool reuse = false;      // those that are in the folder already
    std::string from_model;  // else copies of this model directory's, where it is not empty; else they are learnt
    bool warned = false;     // whether it was said already what they are learnt without
};

// Tokenizers live in `folder`. Text is read as a stream: memory holds a few bytes a pair, and what ids are too many for
// it go to an unnamed file in `folder` (PairStore).
TrainingData prepare_training_data(const TrainConfig& config, const std::string& folder, const TokenizerOrigin& origin,
                                   const Say& say);

}  // namespace headscope
