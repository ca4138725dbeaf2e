// Reads texts with classes or numbers from JSON Lines of any size, one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/lines.h"

namespace headscope {

enum class LabelForm : std::uint8_t { Class, Classes, Number };

// {"text": "..", "label": "positive"}, or with a list of classes or a number for a label; "pair": a second text, such
// as a hypothesis.
struct LabelledText {
    std::string text = {};
    std::optional<std::string> pair = {};
    LabelForm form = LabelForm::Class;
    std::vector<std::string> labels = {};  // its class, or its classes, each once
    double number = 0.0;                   // finite
};

// What a model is to say of a text.
struct WantedLabel {
    std::int32_t label = 0;           // the place of its class; 0 for the other forms
    std::vector<float> numbers = {};  // its number, or 1 for each class that it has and -1 for the others
};

// `labels`: the model's classes. Error that names `place` for another class, and for a text of another form than the
// model's.
WantedLabel wanted_label(const LabelledText& text, LabelForm form, const std::vector<std::string>& labels,
                         const std::string& place);

class LabelledReader {
public:
    explicit LabelledReader(const std::string& path) : lines_(path) {}

    // False at the end. Errors name file and line: any other key, an empty text, a label of another type, a class that
    // is listed twice, and labels of several forms in one file.
    bool next(LabelledText& text);
    const LineReader& lines() const { return lines_; }
    std::string place() const;  // "'my.jsonl' line 3"

private:
    LineReader lines_;
    std::string line_;
    std::optional<LabelForm> form_;  // after the first line
};

}  // namespace headscope
