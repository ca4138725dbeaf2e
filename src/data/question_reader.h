// Reads questions with the texts that hold their answers, from JSON Lines of any size, one by one.
#pragma once

#include <string>
#include <vector>

#include "text/lines.h"

namespace headscope {

// {"question": "..", "context": ".."}, and if they are answered "answers": [".."], each of which stands in the context.
struct AskedQuestion {
    std::string question, context;
    std::vector<std::string> answers;
};

class QuestionReader {
public:
    QuestionReader(const std::string& path, bool answered) : lines_(path), answered_(answered) {}

    // False at the end. Errors name file and line: any other key, an empty text, and an answer outside the context.
    bool next(AskedQuestion& question);
    const LineReader& lines() const { return lines_; }
    std::string place() const;  // "'my.jsonl' line 3"

private:
    LineReader lines_;
    bool answered_;
    std::string line_;
};

}  // namespace headscope
