#include "cli/score/evaluate_labelled.h"

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

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

// Reads texts for the model, and keeps what it is to say of them.
class LabelledLines {
public:
    LabelledLines(const std::string& file, const std::vector<std::string>& labels) : reader_(file), labels_(labels) {}

    bool next(ScoredLine& line) {
        LabelledText text;
        if (!reader_.next(text)) {
            return false;
        }
        line.line = reader_.lines().number();
        const std::int32_t label = index_of_label(text, labels_, reader_.place());
        line.text = std::move(text.text);
        line.pair = std::move(text.pair);
        wanted_.push_back(text.number.value_or(label));
        return true;
    }

    // The number or the index of the class of the first line that was not asked for.
    double take() {
        const double wanted = wanted_.front();
        wanted_.pop_front();
        return wanted;
    }

    const std::string& name() const { return reader_.lines().name(); }

private:
    LabelledReader reader_;
    const std::vector<std::string>& labels_;
    std::deque<double> wanted_;
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
    if (!scorer.has_classes() && !calibration.empty()) {
        throw Error("--calibration draws the probabilities of classes, and the model has a number: leave it out");
    }
    LabelledLines input(file, scorer.labels());
    ClassEvaluation classes(scorer.labels().size());
    NumberEvaluation numbers;
    LineProblems problems(input.name());
    ProgressMeter progress("text");
    scorer.score_all([&](ScoredLine& line) { return input.next(line); },
                     [&](const std::vector<ScoredLine>& lines) {
                         for (const ScoredLine& line : lines) {
                             const double wanted = input.take();
                             if (problems.report(line)) {
                                 continue;
                             }
                             if (scorer.has_classes()) {
                                 classes.add(probabilities_of(line.scores.front()), static_cast<std::size_t>(wanted));
                             } else {
                                 numbers.add(line.scores.front().front(), wanted);
                             }
                         }
                         progress.done(static_cast<std::int64_t>(problems.lines()));
                     });
    progress.clear();
    scorer.opened().tell_idle();
    if (classes.texts() + numbers.texts() == 0) {
        problems.require_none("text", "evaluated");
        throw Error(input.name() + " has no text to evaluate");
    }
    if (!calibration.empty()) {
        write_calibration(classes.choices(), scorer.models(), calibration);
    }
    const EvaluatedBy by{scorer.models(), scorer.opened().engine.devices(), common.precision};
    if (scorer.has_classes()) {
        write_output(common.json ? class_evaluation_json(classes, scorer.labels(), problems.count(), origin, by)
                                 : class_evaluation_table(classes, scorer.labels()));
    } else {
        write_output(common.json ? number_evaluation_json(numbers, problems.count(), origin, by)
                                 : number_evaluation_table(numbers));
    }
    problems.require_none("text", "evaluated");
}

}  // namespace headscope
