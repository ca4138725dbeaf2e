// How many tokens a step may have, found for a device's memory.
#pragma once

#include <cstdint>
#include <string>

#include "train/step_rehearsal.h"

namespace headscope {

struct FoundBatch {
    std::int64_t tokens = 0;  // of each side
    std::string how;          // for people
};

// Steps of more and more tokens are tried until memory has no room for one, or `limit` bytes would be passed (0: the
// device says itself when it has no more), or `most` is reached; short of that a margin of a tenth is kept. Error where
// not even one sentence of the greatest length fits.
FoundBatch find_batch(StepRehearsal& rehearsal, const TrainConfig& config, std::uint64_t limit,
                      std::int64_t most = TrainingOptions{}.source_tokens);

// Bytes that a training may take of a device whose memory is the host's, four fifths of what is free now; 0 for a
// device with memory of its own.
std::uint64_t memory_limit(const Backend& backend);

}  // namespace headscope
