// Records the attention of one sentence or text, read by a model of any family.
#pragma once

#include <cstdint>
#include <string>

#include "infer/loaded_model.h"
#include "model/config.h"
#include "observe/selection.h"
#include "options/common_options.h"

namespace headscope {

struct RecordRequest {
    std::string text;
    bool chat = false;        // the text is a message in the model's chat template
    std::string target;       // empty: the model's own translation
    DecodingChoices choices;  // beam and languages
    std::int64_t pads = 0;
    std::int64_t max_tokens = 0;  // of a prompt's continuation
    Precision precision = Precision::F32;
    AttentionSelection selection = {.layer = 0};  // layer 0: all layers of the kind
};

// Records the attention of a given target, or of the model's own translation. The encoder's attention needs
// neither. Of a language model: that of its text, or of a prompt and its continuation.
AttentionRecord record_for(Backend& backend, const LoadedModel& translator, const RecordRequest& request);

}  // namespace headscope
