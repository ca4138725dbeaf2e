// headscope evaluate for language models.
#pragma once

#include <cstdint>
#include <string>

#include "cli/result_origin.h"
#include "data/document_reader.h"
#include "options/common_options.h"

namespace headscope {

struct EvaluatedText {
    std::string file;
    DocumentForm form = DocumentForm::Line;
};

// Prints how well a language model predicts a text.
// `calibration`: a picture to write, or "".
void evaluate_text(const CommonOptions& common, const EvaluatedText& text, std::int64_t batch_tokens,
                   const std::string& calibration, const ResultOrigin& origin);

}  // namespace headscope
