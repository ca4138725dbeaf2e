#include "cli/score/label_report.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "support/counted.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

// Characters of UTF-8.
std::size_t characters_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

// Names of classes, all as wide as the widest.
class NameColumn {
public:
    explicit NameColumn(const std::vector<std::string>& labels) {
        for (const std::string& label : labels) {
            widest_ = std::max(widest_, characters_of(label));
        }
    }
    std::string operator()(const std::string& label) const {
        return label + std::string(widest_ - std::min(widest_, characters_of(label)), ' ');
    }

private:
    std::size_t widest_ = 5;  // "class"
};

template <class Evaluation>
std::string table_of_classes(const Evaluation& evaluation, const std::vector<std::string>& labels) {
    const NameColumn name(labels);
    std::string text = name("class") + "  precision  recall      F1   texts\n";
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const ClassEvaluation::OfClass one = evaluation.of_class(i);
        text += fmt::format("{}  {:9.4f}  {:6.4f}  {:6.4f}  {:6}\n", name(labels[i]), one.precision, one.recall, one.f1,
                            one.texts);
    }
    return text;
}

template <class Evaluation>
Json json_of_classes(const Evaluation& evaluation, const std::vector<std::string>& labels) {
    Json classes = Json::array();
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const ClassEvaluation::OfClass one = evaluation.of_class(i);
        classes.push_back({{"label", labels[i]},
                           {"texts", one.texts},
                           {"precision", one.precision},
                           {"recall", one.recall},
                           {"f1", one.f1}});
    }
    return classes;
}

}  // namespace

std::string class_evaluation_table(const ClassEvaluation& evaluation, const std::vector<std::string>& labels) {
    const ForcedStatistics& of = evaluation.choices();
    const NameColumn name(labels);
    std::string text =
        fmt::format("{}: accuracy {:.2f} %, F1 {:.4f} (mean of the classes)\n{}\n{}  the model's, in this order\n",
                    counted(evaluation.texts(), "text"), 100.0 * evaluation.accuracy(), evaluation.macro_f1(),
                    table_of_classes(evaluation, labels), name("text"));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        text += name(labels[i]) + " ";
        for (const std::int64_t count : evaluation.confusion()[i]) {
            text += fmt::format(" {:6}", count);
        }
        text += "\n";
    }
    return text + fmt::format(
                      "\nloss {:.4f}; calibration error {:.2f} % (ECE, {} bins): the likeliest class has probability "
                      "{:.1f} % on average\n",
                      of.nll(), 100.0 * of.expected_calibration_error(), kCalibrationBins, 100.0 * of.confidence());
}

std::string class_evaluation_json(const ClassEvaluation& evaluation, const std::vector<std::string>& labels,
                                  std::size_t left_out, const ResultOrigin& origin, const EvaluatedBy& by) {
    Json json = to_json(origin);
    json.update({{"model", evaluated_by_json(by)},
                 {"texts", evaluation.texts()},
                 {"left_out", left_out},
                 {"accuracy", evaluation.accuracy()},
                 {"macro_f1", evaluation.macro_f1()},
                 {"nll", evaluation.choices().nll()},
                 {"calibration", calibration_json(evaluation.choices())},
                 {"classes", json_of_classes(evaluation, labels)}});
    for (std::size_t i = 0; i < labels.size(); ++i) {
        json["classes"][i]["given"] = evaluation.confusion()[i];
    }
    return json_document(json);
}

std::string labels_evaluation_table(const LabelsEvaluation& evaluation, const std::vector<std::string>& labels) {
    return fmt::format(
        "{}: exact match {:.2f} %, F1 {:.4f} (of all choices), {:.4f} (mean of the classes)\n{}\nloss {:.4f}; a text "
        "gets the classes whose probability is at least 0.5\n",
        counted(evaluation.texts(), "text"), 100.0 * evaluation.exact_match(), evaluation.micro_f1(),
        evaluation.macro_f1(), table_of_classes(evaluation, labels), evaluation.nll());
}

std::string labels_evaluation_json(const LabelsEvaluation& evaluation, const std::vector<std::string>& labels,
                                   std::size_t left_out, const ResultOrigin& origin, const EvaluatedBy& by) {
    Json json = to_json(origin);
    json.update({{"model", evaluated_by_json(by)},
                 {"texts", evaluation.texts()},
                 {"left_out", left_out},
                 {"exact_match", evaluation.exact_match()},
                 {"micro_f1", evaluation.micro_f1()},
                 {"macro_f1", evaluation.macro_f1()},
                 {"nll", evaluation.nll()},
                 {"classes", json_of_classes(evaluation, labels)}});
    return json_document(json);
}

namespace {

std::string correlation_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : "undefined, since all numbers are equal";
}

Json correlation_json(const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string number_evaluation_table(const NumberEvaluation& evaluation) {
    return fmt::format("{}: mean squared error {:.4f}\ncorrelation: Pearson {}, Spearman {}\n",
                       counted(evaluation.texts(), "text"), evaluation.mean_squared_error(),
                       correlation_text(evaluation.pearson()), correlation_text(evaluation.spearman()));
}

std::string number_evaluation_json(const NumberEvaluation& evaluation, std::size_t left_out, const ResultOrigin& origin,
                                   const EvaluatedBy& by) {
    Json json = to_json(origin);
    json.update({{"model", evaluated_by_json(by)},
                 {"texts", evaluation.texts()},
                 {"left_out", left_out},
                 {"mse", evaluation.mean_squared_error()},
                 {"pearson", correlation_json(evaluation.pearson())},
                 {"spearman", correlation_json(evaluation.spearman())}});
    return json_document(json);
}

std::string answer_scores_table(const AnswerScores& scores) {
    return fmt::format("{}: exact match {:.2f} %, F1 {:.2f} %\n", counted(scores.answers, "question"),
                       100.0 * scores.exact_match(), 100.0 * scores.f1());
}

std::string answer_scores_json(const AnswerScores& scores, std::size_t unanswered, const ResultOrigin& origin,
                               const EvaluatedBy& by) {
    Json json = to_json(origin);
    json.update({{"model", evaluated_by_json(by)},
                 {"questions", scores.answers},
                 {"unanswered", unanswered},
                 {"exact_match", scores.exact_match()},
                 {"f1", scores.f1()}});
    return json_document(json);
}

}  // namespace headscope
