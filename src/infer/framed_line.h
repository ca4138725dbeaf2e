// A line to translate and what stands around its pieces.
#pragma once

#include <string_view>

#include "model/frame_of_config.h"
#include "model/model_directory.h"

namespace headscope {

struct FramedLine {
    Frame frame;
    std::string_view text;  // of the line
};

// A line may begin with the token of its target language, if the model writes it as ">>deu<<" (OPUS-MT). It wins over
// the chosen language and is no part of the text. A task's prefix stands at the end of Frame::source_begin. Error for a
// language that is missing or unknown.
FramedLine frame_line(const ModelDirectory& model, const Languages& languages, std::string_view line);

// The frame of some line: of all lines, but for their target languages. Error if there is none, so that one message can
// replace those of all lines.
Frame any_frame(const ModelDirectory& model, const Languages& languages);

}  // namespace headscope
