// What section 3.2.1 of the paper says of the scores of attention, measured for growing d_k: products grow with it and
// push softmax to where its gradient is small, unless they are scaled; additive scores cost more.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "experiment/long_range.h"
#include "experiment/pass_cost.h"
#include "experiment/study_report.h"

namespace headscope {

struct ScoreKind {
    const char* name;      // "scaled"
    const char* title;     // "q k / sqrt(d_k)"
    nlohmann::json model;  // keys of the model's configuration
};
const std::vector<ScoreKind>& score_kinds();

struct ScoreMeasures {
    const ScoreKind* kind = nullptr;
    std::int64_t d_k = 0;
    // With queries and keys of independent numbers of mean 0 and variance 1, as in the paper's footnote 4.
    double deviation = 0.0;  // of the scores
    double gradient = 0.0;   // of the softmax: the mean over queries of the sum of w (1 - w) over the weights w
    PassCost pass = {};      // of attention
    std::optional<LongRangeResult> learnt = {};  // empty if the model is impossible
};

// One text of `length` positions with 8 heads. All but `learnt`.
ScoreMeasures measure_scores(Backend& backend, const ScoreKind& kind, std::int64_t d_k, std::int64_t length,
                             int repeat);
// Recall over a distance by models with one head of d_k, whose d_ff makes up for the parameters.
LayerKind recalling_model(const ScoreKind& kind, std::int64_t d_k);

StudyReport report_of(const std::vector<ScoreMeasures>& measures, const std::string& device);

}  // namespace headscope
