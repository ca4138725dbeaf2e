// One pass through the model, looking: the record of a sentence and of its translation.
#pragma once

#include <vector>

#include "model/transformer.h"
#include "observe/attention_record.h"
#include "observe/recorded_text.h"
#include "observe/weight_collector.h"

namespace headscope {

struct RecordOptions {
    std::vector<AttentionSite> sites = {};  // which attentions; none means all
    std::int64_t source_pads = 0;           // shown behind the source's end, as the paper's Figure 3 shows six
    Compute compute = Compute::F32;
};

// Encoder, and the decoder over the whole target at once (teacher-forced). An empty target leaves the decoder out.
AttentionRecord record_attention(Backend& backend, const Transformer& model, const RecordedText& source,
                                 const RecordedText& target, const RecordOptions& options);

// The parts, for passes that do more than look. ids I32 [1, padded length], the rest pads.
Tensor upload_padded(Backend& backend, const ModelConfig& config, std::vector<std::int32_t> ids, std::int64_t at_least);
// What was seen of a batch's first sentence, without the batch's padding. Without `target` the decoder was left out.
AttentionRecord make_record(const ModelConfig& config, const RecordedText& source, std::int64_t source_pads,
                            const RecordedText* target, const std::vector<WeightCollector::Observation>& seen);

}  // namespace headscope
