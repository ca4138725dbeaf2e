// A teacher-forced pass over a given translation, with the model's own candidates at each position.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/context.h"
#include "explore/exploration.h"
#include "model/encoder_decoder.h"
#include "observe/recorded_text.h"

namespace headscope {

// The encoder's output for one sentence.
struct SourceMemory {
    Var states;      // [1, source length, d_model]
    Tensor lengths;  // I32 [1]
};
SourceMemory read_source(Context& ctx, const EncoderDecoder& model, const RecordedText& source, std::int64_t pads);
// out [1, target length, d_model]
Var read_target(Context& ctx, const EncoderDecoder& model, const RecordedText& target, const SourceMemory& memory);

// The decoder's expected output: the pieces and, if the target has ended, the end of sentence.
std::vector<std::int32_t> written_ids(const ModelConfig& config, const RecordedText& target);

// One step for each token of `written`; hidden is [1, >= written.size(), d_model]. Candidates have no text yet.
// Stops early at a token without a usable probability.
std::vector<ExploredStep> forced_steps(Context& ctx, const EncoderDecoder& model, const Var& hidden,
                                       const std::vector<std::int32_t>& written, int candidates);

}  // namespace headscope
