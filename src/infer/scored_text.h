// Texts, and pairs of texts, as a model with an output for scores reads them: the same in training and in use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/frame.h"
#include "data/labelled_reader.h"
#include "model/model_directory.h"
#include "text/tokenizer.h"

namespace headscope {

class ScoredTextEncoder {
public:
    // `source`: the tokenizer of what the model reads.
    ScoredTextEncoder(const ModelConfig& config, std::shared_ptr<const Tokenizer> source, Frame frame);

    // The ids with all that stands around them, and the label 0 at the state whose scores are the text's. A masked
    // language model reads a pair as BERT does, with a type for each text if it has types. Error for an empty text, a
    // text that is too long for the model, and a pair for a model that reads one text.
    Example encode(const std::string& text, const std::optional<std::string>& pair) const;
    // The same without the check of the length.
    Example encode_any(const std::string& text, const std::optional<std::string>& pair) const;
    // The same of the pieces of a source, for a model that reads one.
    Example of_source(std::vector<std::int32_t> pieces) const;
    // The tokens of the longer side.
    std::int64_t length_of(const Example& example) const;

private:
    std::vector<std::int32_t> pieces_of(const std::string& text) const;
    Example labelled(Example example) const;

    ModelConfig config_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    Frame frame_;
};

// Gives a text what a model is to say of it.
void set_wanted(Example& example, WantedLabel wanted);

// What a model with classes or a number says of texts.
LabelForm label_form(const OutputConfig& output);

// Error, naming the model, unless it has classes or a number for texts.
void require_text_scores(const ModelDirectory& model);

// The probabilities of classes with these scores, and their logarithms: of one of them, or of each on its own.
std::vector<double> log_probabilities_of(const OutputConfig& output, std::vector<double> scores);
std::vector<double> probabilities_of(const OutputConfig& output, std::vector<double> scores);

}  // namespace headscope
