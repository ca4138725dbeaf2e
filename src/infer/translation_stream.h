// A stream of lines through a Translator, window by window, in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "infer/line_source.h"
#include "infer/translator.h"

namespace headscope {

struct StreamTotals {
    std::int64_t lines = 0;
    std::int64_t problems = 0;  // lines that were not translated
    std::int64_t source_tokens = 0;
    std::int64_t target_tokens = 0;
    double seconds = 0.0;  // spent translating, not waiting for input
};

struct StreamSinks {
    // The results of one window, in order; one that was not translated has an empty text.
    std::function<void(const std::vector<TranslatedSentence>& window)> translated;
    // "line 7: ..."; lines count from 1.
    std::function<void(const std::string& message)> complaint;
};

// A line that cannot be translated is complained about and gives an empty result; the others go on.
StreamTotals translate_stream(const Translator& translator, LineSource& input, const StreamSinks& sinks,
                              const TranslationOptions& options);

}  // namespace headscope
