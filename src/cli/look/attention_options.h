// The options of headscope attention.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "answers/attention_pictures.h"
#include "cli/look/attention_recording.h"
#include "options/common_options.h"

namespace CLI {
class App;
}

namespace headscope {

struct AttentionOptions {
    CommonOptions common = {};
    RecordRequest request = {};
    bool has_text = false;     // of the request, which may be empty
    bool has_picture = false;  // the text is the name of a picture
    std::vector<int> at;       // row and column of a patch, from 1; empty: none is chosen
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
    std::string patch;      // sites
    std::string from;       // the text that they are patched from
    std::size_t limit = 0;  // sentences of the corpus; 0: all
    std::size_t bleu = 0;   // sentences to translate for the importance
    bool pieces = false;
    bool words = false;
    bool no_special = false;
    bool class_token = false;
    bool matrix = false;
    bool all_heads = false;
    bool page = false;
    int best = 1;
    int rank = 1;
    PictureOptions picture = {};
};

void add_attention_options(CLI::App& command, AttentionOptions& options);

PictureOptions picture_options(const AttentionOptions& options);

// Error for an option that the model's family lacks.
void check_family_options(const AttentionOptions& options, Architecture family);

// Completes the selection for the model. Error if the model has no such layer or head.
AttentionSelection checked_selection(const AttentionOptions& options, const ModelConfig& config);

}  // namespace headscope
