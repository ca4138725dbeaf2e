#include "cli/score/evaluate_labelled.h"

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/score/calibration_picture.h"
#include "cli/score/label_report.h"
#include "cli/score/text_scorer.h"
#include "data/labelled_reader.h"
#include "io/input_files.h"
#include "options/progress.h"
#include "support/check.h"

namespace headscope {
namespace {

struct WantedOfLine {
    WantedLabel label;
    double number;  // of a text with one
};

// Reads texts for the model, and keeps what it is to say of them.
class LabelledLines {
public:
    LabelledLines(const std::string& file, const OutputConfig& output) : reader_(file), output_(output) {}

    bool next(ScoredLine& line) {
        LabelledText text;
        if (!reader_.next(text)) {
            return false;
        }
        line.line = reader_.lines().number();
        wanted_.push_back({wanted_label(text, label_form(output_), output_.labels, reader_.place()), text.number});
        line.text = std::move(text.text);
        line.pair = std::move(text.pair);
        return true;
    }

    // Of the first line that was not asked for.
    WantedOfLine take() {
        WantedOfLine wanted = std::move(wanted_.front());
        wanted_.pop_front();
        return wanted;
    }

    const std::string& name() const { return reader_.lines().name(); }

private:
    LabelledReader reader_;
    const OutputConfig& output_;
    std::deque<WantedOfLine> wanted_;
};

// What the lines have, of a model that gives texts labels of this form.
class FormEvaluation {
public:
    explicit FormEvaluation(const OutputConfig& output)
        : output_(output), classes_(output.labels.size()), labels_(output.labels.size()) {}

    void add(const std::vector<double>& scores, const WantedOfLine& wanted) {
        switch (label_form(output_)) {
            case LabelForm::Class:
                classes_.add(probabilities_of(output_, scores), static_cast<std::size_t>(wanted.label.label));
                break;
            case LabelForm::Classes: labels_.add(scores, wanted.label.numbers); break;
            case LabelForm::Number: numbers_.add(scores.front(), wanted.number); break;
        }
    }
    std::int64_t texts() const { return classes_.texts() + labels_.texts() + numbers_.texts(); }
    const ClassEvaluation& classes() const { return classes_; }

    std::string table() const {
        switch (label_form(output_)) {
            case LabelForm::Class: return class_evaluation_table(classes_, output_.labels);
            case LabelForm::Classes: return labels_evaluation_table(labels_, output_.labels);
            case LabelForm::Number: break;
        }
        return number_evaluation_table(numbers_);
    }
    std::string json(std::size_t left_out, const ResultOrigin& origin, const EvaluatedBy& by) const {
        switch (label_form(output_)) {
            case LabelForm::Class: return class_evaluation_json(classes_, output_.labels, left_out, origin, by);
            case LabelForm::Classes: return labels_evaluation_json(labels_, output_.labels, left_out, origin, by);
            case LabelForm::Number: break;
        }
        return number_evaluation_json(numbers_, left_out, origin, by);
    }

private:
    const OutputConfig& output_;
    ClassEvaluation classes_;
    LabelsEvaluation labels_;
    NumberEvaluation numbers_;
};

}  // namespace

void evaluate_labelled(const CommonOptions& common, const std::string& file, std::int64_t batch_tokens,
                       const std::string& calibration, const ResultOrigin& origin) {
    InputFiles inputs(common.open.settings);
    inputs.add({file});
    inputs.add(common.find_models());
    inputs.refuse("-");
    inputs.refuse(calibration);
    TextScorer scorer(common, batch_tokens);
    if (label_form(scorer.output()) != LabelForm::Class && !calibration.empty()) {
        throw Error(fmt::format(
            "--calibration draws the probabilities of classes of which a text has one, and the model has {}: leave it "
            "out",
            scorer.has_classes() ? "any number of classes for a text" : "a number"));
    }
    LabelledLines input(file, scorer.output());
    FormEvaluation evaluation(scorer.output());
    LineProblems problems(input.name());
    ProgressMeter progress("text");
    scorer.score_all([&](ScoredLine& line) { return input.next(line); },
                     [&](const std::vector<ScoredLine>& lines) {
                         for (const ScoredLine& line : lines) {
                             const WantedOfLine wanted = input.take();
                             if (!problems.report(line)) {
                                 evaluation.add(line.scores.front(), wanted);
                             }
                         }
                         progress.done(static_cast<std::int64_t>(problems.lines()));
                     });
    progress.clear();
    scorer.opened().tell_idle();
    if (evaluation.texts() == 0) {
        problems.require_none("text", "evaluated");
        throw Error(input.name() + " has no text to evaluate");
    }
    if (!calibration.empty()) {
        write_calibration(evaluation.classes().choices(), scorer.models(), calibration);
    }
    const EvaluatedBy by{scorer.models(), scorer.opened().engine.devices(), common.precision};
    write_output(common.json ? evaluation.json(problems.count(), origin, by) : evaluation.table());
    problems.require_none("text", "evaluated");
}

}  // namespace headscope
