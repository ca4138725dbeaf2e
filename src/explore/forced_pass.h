// The model told a translation: one teacher-forced pass, and what it would have written at each position.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/context.h"
#include "explore/exploration.h"
#include "model/transformer.h"
#include "observe/recorded_text.h"

namespace headscope {

// What the encoder made of one sentence.
struct SourceMemory {
    Var states;      // [1, source length, d_model]
    Tensor lengths;  // I32 [1]
};
SourceMemory read_source(Context& ctx, const Transformer& model, const RecordedText& source, std::int64_t pads);
// out [1, target length, d_model]
Var read_target(Context& ctx, const Transformer& model, const RecordedText& target, const SourceMemory& memory);

// What the decoder is to write: its pieces and, where it ended, the end of sentence.
std::vector<std::int32_t> written_ids(const ModelConfig& config, const RecordedText& target);

// One step for each token of `written`, hidden [1, at least as many, d_model]; candidates without their texts. Fewer
// steps where the model gives the next token no usable probability.
std::vector<ExploredStep> forced_steps(Context& ctx, const Transformer& model, const Var& hidden,
                                       const std::vector<std::int32_t>& written, int candidates);

}  // namespace headscope
