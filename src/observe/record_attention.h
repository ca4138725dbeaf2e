// Records attention in one forward pass: of a sentence and its translation, or of a language model's text.
#pragma once

#include <vector>

#include "data/device_batch.h"
#include "model/mixer.h"
#include "model/model.h"
#include "observe/attention_record.h"
#include "observe/recorded_text.h"
#include "observe/weight_collector.h"

namespace headscope {

struct RecordOptions {
    std::vector<AttentionSite> sites = {};  // empty: all
    std::int64_t source_pads = 0;           // pads after the source's end; the paper's Figure 3 shows six
    Compute compute = Compute::F32;
};

// Runs the encoder and, unless the target is empty, the decoder (teacher-forced). `target` is the text of a language
// model, which has no source.
AttentionRecord record_attention(Backend& backend, const Model& model, const RecordedText& source,
                                 const RecordedText& target, const RecordOptions& options);

// Why an observer cannot keep what it wants of a pass over these texts, of which a language model's is the target: more
// than `most` weights. Empty if it can.
std::string too_many_weights(const ModelConfig& config, const AttentionObserver& observer, const RecordedText& source,
                             std::int64_t source_pads, const RecordedText& target, std::int64_t most = kMostWeights);

// Building blocks for other passes. Returns I32 [1, padded length], filled up with pads.
Tensor upload_padded(Backend& backend, const ModelConfig& config, std::vector<std::int32_t> ids, std::int64_t at_least);

// Their types (token_types_of), I32 [1, padded length]; undefined if the model does not distinguish them.
Tensor upload_types(Backend& backend, const ModelConfig& config, const std::vector<std::int32_t>& ids,
                    std::int64_t padded);

// A picture as a batch of one source.
DeviceBatch upload_picture(Backend& backend, const ModelConfig& config, const RecordedText& picture);

// The encoder's output for one sentence, [1, source length, d_model]; undefined for a language model.
Memory read_source(Context& ctx, const Model& model, const RecordedText& source, std::int64_t pads);
// The last hidden states of a target, or of a language model's text: [1, padded length, d_model].
Var read_target(Context& ctx, const Model& model, const RecordedText& target, const Memory& memory);

// The record of a batch's first sentence, without the batch's padding. `target` is null if the decoder did not run.
AttentionRecord make_record(const ModelConfig& config, const RecordedText& source, std::int64_t source_pads,
                            const RecordedText* target, const std::vector<WeightCollector::Observation>& seen);

}  // namespace headscope
