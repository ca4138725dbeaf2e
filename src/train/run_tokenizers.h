// The tokenizers of a training run: learnt from its text, those it has already, or another model's.
#pragma once

#include <functional>
#include <string>

#include "data/pair_reader.h"
#include "train/training_data.h"

namespace headscope {

// Error for a file that the configuration names and that does not exist.
void require_files(const TrainConfig& config);

void for_each_reader(const CorpusFiles& files, const std::function<void(PairReader& reader)>& visit);

// Fills the tokenizers of `data`. Pieces are learnt from all corpora alike, of a long text from a seeded sample.
void obtain_tokenizers(TrainingData& data, const TrainConfig& config, const std::string& folder,
                       const TokenizerOrigin& origin, const Say& say);

}  // namespace headscope
