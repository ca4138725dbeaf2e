// Turns the files of a configuration into tokenizers and encoded examples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/example_source.h"
#include "data/frame.h"
#include "data/response_source.h"
#include "model/tokenizer_files.h"
#include "parallel/communicator.h"
#include "text/tokenizer.h"
#include "train/train_config.h"

namespace headscope {

using Log = std::function<void(const std::string& line)>;

struct TrainingData {
    std::shared_ptr<const Tokenizer> source_tokenizer, target_tokenizer;
    Languages languages;  // of all pairs
    Frame frame;          // around them
    std::shared_ptr<const ExampleSource> train;
    std::shared_ptr<const ExampleSource> valid;              // null: none
    std::vector<std::shared_ptr<ResponseSource>> responses;  // both, if they are responses
    ParallelText
        valid_text;  // the first "training.validate_bleu" pairs of `valid` as text, including those that are too long
    // A run can only be resumed with the same data.
    std::uint64_t fingerprint() const { return train->fingerprint(); }
};

// Where a run's tokenizers come from.
struct TokenizerOrigin {
    bool reuse = false;                       // use those in the folder
    std::optional<TokenizerPair> given = {};  // otherwise copy these; none: learn them
    bool warned = false;                      // the warning about unlearnable lines was already printed
    Communicator* ranks = &alone();           // that share them: rank 0 makes them
};

// Tokenizers are stored in `folder`. Text is read as a stream: memory holds a few bytes per pair, and the ids of large
// corpora go to an unnamed file in `folder` (PairStore).
TrainingData prepare_training_data(const TrainConfig& config, const std::string& folder, const TokenizerOrigin& origin,
                                   const Log& say);

}  // namespace headscope
