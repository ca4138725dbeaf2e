// The tokenizers of a training run: learned from its text, reused, or copied from another model.
#pragma once

#include <functional>
#include <string>

#include "data/pair_reader.h"
#include "train/training_data.h"

namespace headscope {

// Error if a file named in the configuration does not exist.
void require_files(const TrainConfig& config);

[[noreturn]] void throw_no_examples(const TrainConfig& config, const std::string& key, const CorpusFiles& files,
                                    std::int64_t dropped_empty);

void for_each_reader(const CorpusFiles& files, const std::function<void(PairReader& reader)>& visit);

// Sets the tokenizers of `data`. Pieces are learned from all corpora, or from a seeded sample of a long text.
void obtain_tokenizers(TrainingData& data, const TrainConfig& config, const std::string& folder,
                       const TokenizerOrigin& origin, const Log& say);

}  // namespace headscope
