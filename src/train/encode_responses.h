// Turns files of prompts with responses into the examples of a training.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/hold_out.h"
#include "data/response_source.h"
#include "train/training_data.h"

namespace headscope {

// Says how many tokens have a loss, and how many examples are left out because a text is longer than
// "training.max_length": none is cut. Error if that leaves none.
std::shared_ptr<ResponseSource> encode_responses(const TrainConfig& config, const TrainingData& data,
                                                 const std::vector<CorpusFiles>& corpora, Part which,
                                                 const std::string& folder, const Log& say);

// What each of the first examples of a task's training is, with the pieces that have a loss in brackets.
std::string show_labels(const TrainingData& data, Task task, std::int64_t examples);

}  // namespace headscope
