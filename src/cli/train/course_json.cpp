#include "cli/train/course_json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

namespace headscope {

namespace {

nlohmann::ordered_json point_json(const LossPoint& point) {
    nlohmann::ordered_json json{{"step", point.step}};
    for (const auto& [key, value] :
         {std::pair("loss", point.loss), std::pair("nll", point.nll), std::pair("mean_nll", point.mean_nll),
          std::pair("bleu", point.bleu), std::pair("learning_rate", point.learning_rate),
          std::pair("tokens_per_second", point.tokens_per_second)}) {
        if (!std::isnan(value)) {
            json[key] = value;
        }
    }
    for (const TrainingMeasure& row : kTrainingMeasures) {
        if (const auto found = point.measures.find(row.key); found != point.measures.end()) {
            json[row.key] = found->second;
        }
    }
    return json;
}

}  // namespace

nlohmann::ordered_json course_json(const TrainingLog& log) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (!log.training.empty()) {
        json["training"] = point_json(log.training.back());
    }
    if (!log.validation.empty()) {
        json["validation"] = point_json(log.validation.back());
        json["best"] =
            point_json(*std::min_element(log.validation.begin(), log.validation.end(),
                                         [](const LossPoint& a, const LossPoint& b) { return a.nll < b.nll; }));
    }
    return json;
}

}  // namespace headscope
