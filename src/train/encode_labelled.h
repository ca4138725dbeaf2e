// Turns files of texts with classes or numbers into the examples of a training.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/hold_out.h"
#include "data/labelled_source.h"
#include "train/training_data.h"

namespace headscope {

// Says how many texts each class has, and how many are left out because they are longer than "training.max_length":
// none is cut. Error for a class that the model lacks, for a number where it has classes or the other way round, and if
// no text is left.
std::shared_ptr<LabelledSource> encode_labelled(const TrainConfig& config, const TrainingData& data,
                                                const std::vector<CorpusFiles>& corpora, Part which,
                                                const std::string& folder, const Log& say);

}  // namespace headscope
