// Texts to translate or complete with a model in one call, for tests.
#pragma once

#include <string>
#include <vector>

#include "infer/loaded_model.h"
#include "support/check.h"

namespace headscope {

// Numbers the lines from 1.
inline std::vector<TextResult> translate(const LoadedModel& model, const std::vector<std::string>& lines,
                                         const DecodingOptions& options) {
    return model.translate(numbered(lines), options);
}

// Error for a line that cannot be translated.
inline TextResult translate_line(const LoadedModel& model, const std::string& line, const DecodingOptions& options) {
    TextResult found = translate(model, {line}, options).front();
    if (!found.problem.empty()) {
        throw Error(found.problem);
    }
    return found;
}

}  // namespace headscope
