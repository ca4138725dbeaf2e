// headscope attention --corpus: what heads do over many sentences.
#pragma once

#include <string>

#include "cli/look/attention_recording.h"

namespace headscope {

// Searches the corpus for heads, or measures their importance over it. Returns the bytes to write.
std::string look_at_corpus(const AttentionOptions& options, PictureFormat format);

}  // namespace headscope
