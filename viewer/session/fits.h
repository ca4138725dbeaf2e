// What means something for the open model.
#pragma once

#include <string>

#include "viewer/session/scene.h"

namespace headscope::viewer {

constexpr const char* kMixesOtherwise = "This model has no attention: its layers mix tokens in other ways.";

// Why what shows attention, or what is behind a single pass, means nothing for the open model; empty if it does.
std::string no_attention(const Scene& scene);
std::string no_single_pass(const Scene& scene);
// The same for what is asked of texts, for rules about words that look at words, and for what a model would write.
std::string no_text(const Scene& scene);
std::string no_words(const Scene& scene);
std::string no_writing(const Scene& scene);
// The same for lines between words, and what leads to them.
std::string no_lines(const Scene& scene);
// The same for the causal mask of the attention shown, which can be taken off.
std::string no_causal_mask(const Scene& scene);
// The same for replies to messages, and for a model of that kind that was not trained to answer.
std::string no_replies(const Scene& scene);
std::string no_chat(const Scene& scene);

}  // namespace headscope::viewer
