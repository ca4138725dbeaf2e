// The output of headscope evaluate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/precision.h"
#include "cli/result_origin.h"
#include "engine/statistics.h"
#include "eval/evaluation.h"
#include "eval/ranking_evaluation.h"
#include "eval/text_evaluation.h"
#include "infer/translation.h"
#include "model/config.h"

namespace headscope {

struct EvaluatedBy {
    std::vector<std::string> models;  // their directories
    std::vector<DeviceUse> devices;
    Precision precision = Precision::F32;
};

// How the translations were made, without --hypotheses.
struct TranslatedBy {
    EvaluatedBy by;
    DecodingOptions options;  // of the command line and the model together
    Generation generation = Generation::LeftToRight;
};

// The bins of a calibration with its error, and who evaluated: parts of the objects below.
nlohmann::ordered_json calibration_json(const ForcedStatistics& of);
nlohmann::ordered_json evaluated_by_json(const EvaluatedBy& by);

std::string evaluation_table(const Evaluation& evaluation);
// One object with a newline: the scores, and what is needed to reproduce them.
std::string evaluation_json(const Evaluation& evaluation, const ResultOrigin& origin,
                            const std::optional<TranslatedBy>& by);

// The same of ranked responses.
std::string ranking_evaluation_json(const RankingEvaluation& evaluation, const ResultOrigin& origin,
                                    const EvaluatedBy& by);

// The same for a language model.
std::string text_evaluation_table(const TextEvaluation& evaluation, Architecture family);
std::string text_evaluation_json(const TextEvaluation& evaluation, Architecture family, const ResultOrigin& origin,
                                 const EvaluatedBy& by);

}  // namespace headscope
