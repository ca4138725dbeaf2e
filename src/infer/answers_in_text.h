// Answers to questions that stand in a text, by a model that scores where they start and end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/frame.h"
#include "model/model_directory.h"
#include "text/tokenizer.h"

namespace headscope {

struct SpanAnswer {
    std::string text = {};     // without blanks at its ends
    ByteSpan span = {};        // of the context
    double score = 0.0;        // of its start and its end together
    double probability = 0.0;  // that of its start times that of its end, among the pieces that the model read with it
};

// A question with the part of its context that the model reads with it.
struct ContextWindow {
    Example example = {};   // with a label at each piece of the context
    std::size_t first = 0;  // of the context's pieces
};

class AnswerFinder {
public:
    static constexpr std::int64_t kLongestAnswer = 30;  // pieces

    // Error, naming the model, unless it scores starts and ends.
    explicit AnswerFinder(const ModelDirectory& model);

    // A context that is too long is read in parts, of which each but the first repeats half of the one before. Error
    // for an empty text, and for a question that leaves no room for a context.
    std::vector<ContextWindow> windows(const std::string& question, const std::string& context) const;
    // The best answer in one of them. `scores`: of each window those of its labels, a start and an end for each piece.
    SpanAnswer best(const std::string& context, const std::vector<ContextWindow>& windows,
                    const std::vector<std::vector<double>>& scores, std::int64_t longest = kLongestAnswer) const;

private:
    ModelConfig config_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    Frame frame_;
};

}  // namespace headscope
