// From the configuration's files to tokenizers and encoded sentence pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "data/corpus.h"
#include "text/tokenizer.h"
#include "train/train_config.h"

namespace headscope {

using Say = std::function<void(const std::string& line)>;

struct TrainingData {
    std::string source_tokenizer_file, target_tokenizer_file;  // the same where the vocabulary is shared
    std::shared_ptr<const Tokenizer> source_tokenizer, target_tokenizer;
    EncodedCorpus train, valid;
    // Of all ids of the training pairs: a run may only go on with the data that it began with.
    std::uint64_t fingerprint = 0;
};

// Tokenizers live in `folder`; with `reuse` those that are there already are taken, else they are learnt from the
// training text.
TrainingData prepare_training_data(const TrainConfig& config, const std::string& folder, bool reuse, const Say& say);

}  // namespace headscope
