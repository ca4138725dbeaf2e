// One pass through the model, looking: the record of a sentence and of its translation.
#pragma once

#include <vector>

#include "model/transformer.h"
#include "observe/attention_record.h"
#include "observe/recorded_text.h"

namespace headscope {

struct RecordOptions {
    std::vector<AttentionSite> sites = {};  // which attentions; none means all
    std::int64_t source_pads = 0;           // shown behind the source's end, as the paper's Figure 3 shows six
    Compute compute = Compute::F32;
};

// Encoder, and the decoder over the whole target at once (teacher-forced). An empty target leaves the decoder out.
AttentionRecord record_attention(Backend& backend, const Transformer& model, const RecordedText& source,
                                 const RecordedText& target, const RecordOptions& options);

}  // namespace headscope
