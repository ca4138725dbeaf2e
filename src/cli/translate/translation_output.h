// Formats translations: as plain text, n-best lists like those of Moses and Marian, or JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/unsure_flags.h"
#include "engine/translation_stream.h"
#include "observe/alignment.h"
#include "text/tokenizer.h"

namespace headscope {

struct OutputFormat {
    bool json = false;
    bool scores = false;      // "score TAB translation"
    bool n_best = false;      // "line ||| translation ||| LogP= x ||| score", lines from 0
    bool alignments = false;  // " ||| 0-0 1-2" after a translation
    UnsureFlags unsure = {};
};

// alignments[i]: of translation i of the line; empty without alignments. Every line ends with LF. A line that was not
// translated, or is left out as unsure, is printed as an empty line, without a score, which would look like a real one;
// an n-best list has no entry for it.
std::string format_line(const OutputFormat& format, const Tokenizer& target, const StreamedLine& line,
                        const std::vector<Alignment>& alignments);

}  // namespace headscope
