// What headscope attention records: the options' text, read by a model of any family.
#pragma once

#include <optional>
#include <string>

#include "cli/look/attention_pictures.h"
#include "infer/loaded_model.h"
#include "observe/selection.h"
#include "options/common_options.h"

namespace headscope {

struct AttentionOptions {
    CommonOptions common = {};
    std::string text;
    std::string target;
    std::string kind;
    std::string output;
    std::string format;
    std::string palette = "paper";
    std::string theme = "light";
    std::string order = "model";
    std::string find;
    std::string corpus;
    bool importance = false;
    bool saliency = false;
    int steps = 1;  // of the saliency
    bool lens = false;
    std::string patch;        // sites
    std::string from;         // the text that they are patched from
    std::size_t limit = 0;    // sentences of the corpus; 0: all
    std::size_t bleu = 0;     // sentences to translate for the importance
    DecodingChoices choices;  // beam and languages
    std::int64_t pads = 0;
    std::int64_t max_tokens = 0;
    bool pieces = false;
    bool words = false;
    bool no_special = false;
    bool matrix = false;
    bool all_heads = false;
    int best = 1;
    int rank = 1;
    AttentionSelection selection = {.layer = 0};
    PictureOptions picture = {};
};

// Error for an option that the model's family lacks.
void check_family_options(const AttentionOptions& options, Architecture family);

// Completes the selection for the model. Error if the model has no such layer or head.
AttentionSelection checked_selection(const AttentionOptions& options, const ModelConfig& config);

// Records the attention of a given target, or of the model's own translation. The encoder's attention needs
// neither. Of a language model: that of its text, or of a prompt and its continuation.
AttentionRecord record_for(Backend& backend, const LoadedModel& translator, const AttentionOptions& options,
                           const AttentionSelection& selection);

// Takes layer and heads from the search: the layer of the head with this rank, and the best heads in it. Logs them.
void choose_found(AttentionSelection& selection, const AttentionRecord& record, const AttentionOptions& options);

}  // namespace headscope
