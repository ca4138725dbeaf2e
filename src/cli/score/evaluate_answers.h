// headscope evaluate --answers: how near a model's answers are to those of people.
#pragma once

#include <cstdint>
#include <string>

#include "cli/result_origin.h"
#include "options/common_options.h"

namespace headscope {

// `file`: questions with answers (QuestionReader).
void evaluate_answers(const CommonOptions& common, const std::string& file, std::int64_t batch_tokens,
                      const ResultOrigin& origin);

}  // namespace headscope
