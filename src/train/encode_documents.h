// Turns text corpora into the examples of a language model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/example_source.h"
#include "data/hold_out.h"
#include "train/training_data.h"

namespace headscope {

// Part::Valid: examples have one document each, and every validation has the same ones.
std::shared_ptr<const ExampleSource> encode_documents(const TrainConfig& config, const TrainingData& data,
                                                      const std::vector<CorpusFiles>& corpora, Part which,
                                                      const std::string& folder, const Log& say);

}  // namespace headscope
