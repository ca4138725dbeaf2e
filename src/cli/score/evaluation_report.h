// The output of headscope evaluate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/precision.h"
#include "cli/result_origin.h"
#include "eval/evaluation.h"
#include "infer/translation.h"

namespace headscope {

// How the translations were made, without --hypotheses.
struct TranslatedBy {
    std::vector<std::string> models;  // their directories
    DeviceInfo device;
    Precision precision = Precision::F32;
    TranslationOptions options;  // of the command line and the model together
};

std::string evaluation_table(const Evaluation& evaluation);
// One object with a newline: the scores, and what is needed to reproduce them.
std::string evaluation_json(const Evaluation& evaluation, const ResultOrigin& origin,
                            const std::optional<TranslatedBy>& by);

}  // namespace headscope
