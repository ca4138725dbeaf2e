// The output of headscope evaluate for texts with classes or numbers, and for answers to questions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/score/evaluation_report.h"
#include "eval/answer_scores.h"
#include "eval/class_evaluation.h"

namespace headscope {

// Of texts with classes, whose names these are, and of texts with numbers. `left_out`: texts that the model cannot
// read.
std::string class_evaluation_table(const ClassEvaluation& evaluation, const std::vector<std::string>& labels);
// One object with a newline.
std::string class_evaluation_json(const ClassEvaluation& evaluation, const std::vector<std::string>& labels,
                                  std::size_t left_out, const ResultOrigin& origin, const EvaluatedBy& by);
// Of texts with any number of classes.
std::string labels_evaluation_table(const LabelsEvaluation& evaluation, const std::vector<std::string>& labels);
std::string labels_evaluation_json(const LabelsEvaluation& evaluation, const std::vector<std::string>& labels,
                                   std::size_t left_out, const ResultOrigin& origin, const EvaluatedBy& by);
std::string number_evaluation_table(const NumberEvaluation& evaluation);
std::string number_evaluation_json(const NumberEvaluation& evaluation, std::size_t left_out, const ResultOrigin& origin,
                                   const EvaluatedBy& by);

// The same of answers to questions. `unanswered`: those that the model cannot read, whose scores are 0.
std::string answer_scores_table(const AnswerScores& scores);
std::string answer_scores_json(const AnswerScores& scores, std::size_t unanswered, const ResultOrigin& origin,
                               const EvaluatedBy& by);

}  // namespace headscope
