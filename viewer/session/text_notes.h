// What users should know of how the model reads their text.
#pragma once

#include <string>

#include "viewer/session/scene.h"

namespace headscope::viewer {

// "Sentence 1 of 6: ..." of a text that was split, or that could not be split though it is long; else empty.
std::string note_on_length(const Scene& scene);
// Names the characters that are missing from the model's vocabulary; empty if there are none.
std::string note_on_unknown(const Scene& scene);

}  // namespace headscope::viewer
