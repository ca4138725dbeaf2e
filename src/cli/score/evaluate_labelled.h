// headscope evaluate --labelled: how well a model tells the classes of texts apart, or gives them numbers.
#pragma once

#include <cstdint>
#include <string>

#include "cli/result_origin.h"
#include "options/common_options.h"

namespace headscope {

// `file`: texts with classes or numbers (LabelledReader). `calibration`: a picture of the probabilities, may be empty.
void evaluate_labelled(const CommonOptions& common, const std::string& file, std::int64_t batch_tokens,
                       const std::string& calibration, const ResultOrigin& origin);

}  // namespace headscope
