// Finds the number of tokens per step that fits in a device's memory.
#pragma once

#include <cstdint>
#include <string>

#include "train/step_rehearsal.h"

namespace headscope {

struct FoundBatch {
    std::int64_t tokens = 0;  // of each side
    std::string how;          // message for the user
};

// Tries larger and larger steps until one does not fit, would need more than `limit` bytes (0: no limit but the
// device's), or has `most` tokens. Below `most` it keeps a margin of a tenth. Error if not even one sentence of the
// greatest length fits.
FoundBatch find_batch(StepRehearsal& rehearsal, const TrainConfig& config, std::uint64_t limit,
                      std::int64_t most = TrainingOptions{}.source_tokens);

// Bytes that a training may use on a device that shares the host's memory: four fifths of what is free now. 0 for a
// device with its own memory.
std::uint64_t memory_limit(const Backend& backend);

}  // namespace headscope
