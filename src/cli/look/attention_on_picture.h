// Attention over the patches of a picture, drawn on the picture.
#pragma once

#include <string>

#include "cli/look/attention_options.h"

namespace headscope {

// Makes the patch of --at the chosen query. Without it and without a chosen word the class token is, if the model has
// one. Error for a patch that the picture does not have.
void choose_patch(const AttentionOptions& options, const ModelConfig& config, AttentionSelection& selection);

// Heads of a chosen patch or word; of a caption without a chosen word each word, by the mean of the heads.
std::string draw_on_picture(const AttentionOptions& options, const ModelConfig& config, const AttentionRecord& record,
                            const AttentionSelection& selection, const PictureFormat& format);

}  // namespace headscope
