// Translates a configuration into the options of a learner and its batches.
#pragma once

#include <memory>

#include "data/batcher.h"
#include "model/config.h"
#include "train/learner.h"
#include "train/training_data.h"
#include "train/training_options.h"

namespace headscope {

LearnerOptions learner_options(const TrainingOptions& t, const Arithmetic& arithmetic);
BatchBudget step_budget(const TrainingOptions& t);
// Of a training with these options on its text. `texts`: how many a step learns of each example, which share its
// tokens.
std::unique_ptr<Batcher> make_batcher(const TrainingOptions& t, const TrainingData& data, std::int64_t texts = 1);
BatchBudget micro_budget(const TrainingOptions& t);  // of what is in memory at a time
// Of the parts that a step is cut into. `part_tokens`: a lower limit that memory demands, 0 for none. Without a limit a
// step is one part, even if sampled pieces made it longer than planned.
BatchBudget part_budget(const TrainingOptions& t, std::int64_t part_tokens = 0);

// The parts of a step, by shard, each under part_budget().
ShardParts shard_parts(const std::vector<Example>& step, const Frame& frame, const TrainingOptions& t,
                       std::int64_t part_tokens);

// What a step computes otherwise when it is cut into parts, as the end of a warning: "; a batch norm measures ..".
// Empty for models whose parts add up to the same gradients.
std::string parts_matter(const ModelConfig& model, const TrainingOptions& training);

}  // namespace headscope
