// The time, memory and arithmetic of a training's steps. Measured, unless whole steps would take long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "data/batcher.h"
#include "model/flops.h"
#include "train/step_rehearsal.h"
#include "train/training_data.h"

namespace headscope {

struct StepEstimate {
    double seconds = 0.0;              // of a step
    std::optional<std::size_t> bytes;  // besides kept_bytes(), for the longest sentences; empty: more than there are
    StepFlops flops;
    bool estimated = false;  // `seconds` and `bytes`
    std::string how;         // "mean of 5", or "estimated from steps of 390 and 780 tokens"
};

// A typical step of a training: `tokens` of each side, of which at most `part_tokens` are in memory at a time, in
// sentences of about `length` tokens.
struct TypicalStep {
    std::int64_t tokens = 0;
    std::int64_t part_tokens = 0;
    std::int64_t length = 0;
};

// Of `data`; without it (null), of sentences as long as those of news.
TypicalStep typical_step(const TrainingOptions& options, const TrainingData* data);

// Runs a small step first. If whole steps take at most `patience` seconds in all it runs those: of `batcher`, or
// typical ones if it is null. Otherwise it runs one of twice the size, and extends the line through both.
StepEstimate estimate_step(StepRehearsal& rehearsal, const TrainingOptions& options, const TypicalStep& step,
                           Batcher* batcher, double patience = 20.0);

}  // namespace headscope
