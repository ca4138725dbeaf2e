#include "cli/score/evaluate_answers.h"

#include <deque>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/score/answer_scorer.h"
#include "cli/score/label_report.h"
#include "data/question_reader.h"
#include "io/input_files.h"
#include "options/progress.h"
#include "support/check.h"

namespace headscope {

void evaluate_answers(const CommonOptions& common, const std::string& file, std::int64_t batch_tokens,
                      const ResultOrigin& origin) {
    InputFiles inputs(common.open.settings);
    inputs.add({file});
    inputs.add(common.find_models());
    inputs.refuse("-");
    AnswerScorer scorer(common, batch_tokens, AnswerFinder::kLongestAnswer);
    QuestionReader reader(file, true);
    std::deque<std::vector<std::string>> wanted;
    const auto next = [&](ScoredLine& line) {
        AskedQuestion question;
        if (!reader.next(question)) {
            return false;
        }
        line.line = reader.lines().number();
        line.text = std::move(question.question);
        line.pair = std::move(question.context);
        wanted.push_back(std::move(question.answers));
        return true;
    };
    AnswerScores scores;
    LineProblems problems(reader.lines().name());
    ProgressMeter progress("question");
    scorer.score_all(next, [&](const std::vector<ScoredLine>& lines) {
        for (const ScoredLine& line : lines) {
            scores.add(problems.report(line) ? "" : scorer.answer(line).text, wanted.front());
            wanted.pop_front();
        }
        progress.done(scores.answers);
    });
    progress.clear();
    scorer.opened().tell_idle();
    if (scores.answers == 0) {
        throw Error(reader.lines().name() + " has no question to evaluate");
    }
    const EvaluatedBy by{scorer.models(), scorer.opened().engine.devices(), common.precision};
    write_output(common.json ? answer_scores_json(scores, problems.count(), origin, by) : answer_scores_table(scores));
    problems.require_none("question", "answered; they count as wrong");
}

}  // namespace headscope
