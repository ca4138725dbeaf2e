#include "train/log_reader.h"

#include <cmath>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"

namespace headscope {

namespace {

double number_at(const nlohmann::json& line, const char* key) {
    const auto value = line.find(key);
    return value != line.end() && value->is_number() ? value->get<double>() : std::nan("");
}

std::int64_t step_at(const nlohmann::json& line) {
    const auto value = line.find("step");
    return value != line.end() && value->is_number_integer() ? value->get<std::int64_t>() : -1;
}

}  // namespace

void require_training_log(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    if (!std::getline(file, text)) {
        return;
    }
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    const bool being_written = file.eof() && text.starts_with('{');
    if (!being_written && !(line.is_object() && line.contains("kind"))) {
        throw Error(fmt::format(
            "'{}' line 1 is not a JSON object of a training log; expected a run's folder or its log.jsonl", path));
    }
}

TrainingLog read_training_log(const std::string& path) {
    TrainingLog log;
    std::ifstream file(path);
    for (std::string text; std::getline(file, text);) {
        const nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
        if (!line.is_object() || !line.contains("kind")) {
            continue;
        }
        LossPoint point{.step = step_at(line),
                        .loss = number_at(line, "loss"),
                        .nll = number_at(line, "nll"),
                        .learning_rate = number_at(line, "learning_rate"),
                        .mean_nll = number_at(line, "mean_nll"),
                        .bleu = number_at(line, "bleu"),
                        .tokens_per_second = number_at(line, "tokens_per_second")};
        for (const TrainingMeasure& row : kTrainingMeasures) {
            if (const double value = number_at(line, row.key); !std::isnan(value)) {
                point.measures[row.key] = value;
            }
        }
        if (point.step < 0) {
            continue;
        }
        if (line["kind"] == "train") {
            log.training.push_back(std::move(point));
        } else if (line["kind"] == "validation") {
            log.validation.push_back(std::move(point));
        }
    }
    return log;
}

}  // namespace headscope
