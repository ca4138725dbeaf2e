// headscope score --responses and evaluate --ranked: what a causal language model thinks of responses to prompts.
#pragma once

#include <cstdint>
#include <string>

#include "cli/result_origin.h"
#include "options/common_options.h"

namespace headscope {

struct ResponsesFile {
    std::string path;
    std::string chat = {};  // the template of prompts and responses; "": the model's
};

// Prints the scores of the responses of each line of a file: of a reward model its scores, of another their
// log-probabilities.
void print_response_scores(const CommonOptions& common, const ResponsesFile& file, std::int64_t batch_tokens);

// Prints how often the scores order ranked responses as people did. `calibration`: a picture to write, or "".
void evaluate_ranked(const CommonOptions& common, const ResponsesFile& file, std::int64_t batch_tokens,
                     const std::string& calibration, const ResultOrigin& origin);

}  // namespace headscope
