// What headscope evaluate prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/precision.h"
#include "cli/result_origin.h"
#include "eval/evaluation.h"
#include "infer/translation.h"

namespace headscope {

// What made the translations, where it was not given them.
struct TranslatedBy {
    std::vector<std::string> models;  // their directories
    DeviceInfo device;
    Precision precision = Precision::F32;
    TranslationOptions options;  // as the model and the command line have it together
};

std::string evaluation_table(const Evaluation& evaluation);
// One object, with a line end: the scores, and what it takes to have them again.
std::string evaluation_json(const Evaluation& evaluation, const ResultOrigin& origin,
                            const std::optional<TranslatedBy>& by);

}  // namespace headscope
