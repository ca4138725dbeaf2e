// Reads texts with classes or numbers from JSON Lines of any size, one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/lines.h"

namespace headscope {

// {"text": "..", "label": "positive"}, or with a number for a label; "pair": a second text, such as a hypothesis.
struct LabelledText {
    std::string text = {};
    std::optional<std::string> pair = {};
    std::string label = {};             // its class; empty if it has a number
    std::optional<double> number = {};  // finite
};

// The place of a text's class among `labels`; 0 for its number, if there are none. Error that names `place` for another
// class, and for a number where there are classes or the other way round.
std::int32_t index_of_label(const LabelledText& text, const std::vector<std::string>& labels, const std::string& place);

class LabelledReader {
public:
    explicit LabelledReader(const std::string& path) : lines_(path) {}

    // False at the end. Errors name file and line: any other key, an empty text, a label that is neither text nor
    // number, and classes and numbers in one file.
    bool next(LabelledText& text);
    const LineReader& lines() const { return lines_; }
    std::string place() const;  // "'my.jsonl' line 3"

private:
    LineReader lines_;
    std::string line_;
    std::optional<bool> numbers_;  // whether the file has them, after the first line
};

}  // namespace headscope
