// headscope evaluate for language models.
#pragma once

#include <cstdint>
#include <string>

#include "cli/opened_engine.h"
#include "cli/result_origin.h"
#include "data/document_reader.h"
#include "eval/text_evaluation.h"
#include "options/common_options.h"

namespace headscope {

struct EvaluatedText {
    std::string file;
    DocumentForm form = DocumentForm::Line;
};

// How well a language model predicts a text. Error if it has no document.
TextEvaluation force_documents(OpenedEngine& opened, const EvaluatedText& text, const ForcedLimits& limits);

// Prints how well a language model predicts a text.
// `calibration`: a picture to write, or "".
void evaluate_text(const CommonOptions& common, const EvaluatedText& text, std::int64_t batch_tokens,
                   const std::string& calibration, const ResultOrigin& origin);

}  // namespace headscope
