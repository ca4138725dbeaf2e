// headscope attention --saliency, --lens and --patch: what the model computes beside its attention.
#pragma once

#include <string>

#include "cli/look/attention_options.h"

namespace headscope {

// Whether one of them is asked for.
bool looks_inside(const AttentionOptions& options);
// As text, JSON or a picture.
std::string look_inside(const AttentionOptions& options, const ShownFormat& format);

}  // namespace headscope
