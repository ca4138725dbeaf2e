// How translations are written: plain, as Moses and Marian write lists of the best, or as JSON.
#pragma once

#include <string>
#include <vector>

#include "infer/translation_stream.h"
#include "observe/alignment.h"
#include "text/tokenizer.h"

namespace headscope {

struct OutputFormat {
    bool json = false;
    bool scores = false;      // "score TAB translation"
    bool n_best = false;      // "line ||| translation ||| LogP= x ||| score", lines from 0
    bool alignments = false;  // " ||| 0-0 1-2" behind a translation
};

// alignments[i]: of each translation of the line's list, its best alone where none was asked for; empty where
// alignments were not. Every line ends with LF. What was not translated is an empty line, whatever else a line has, and
// no line in a list of the best: a score of nothing would look like a certainty.
std::string format_line(const OutputFormat& format, const Tokenizer& target, const StreamedLine& line,
                        const std::vector<Alignment>& alignments);

}  // namespace headscope
