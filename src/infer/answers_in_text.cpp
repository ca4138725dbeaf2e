#include "infer/answers_in_text.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "data/batch.h"
#include "infer/next_tokens.h"
#include "model/family.h"
#include "model/frame_of_config.h"
#include "support/check.h"
#include "text/normalised.h"

namespace headscope {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Without blanks at its ends, which pieces of bytes begin with.
ByteSpan trimmed(const std::string& text, ByteSpan span) {
    while (span.begin < span.end && kBlanks.find(text[span.begin]) != std::string_view::npos) {
        ++span.begin;
    }
    while (span.begin < span.end && kBlanks.find(text[span.end - 1]) != std::string_view::npos) {
        --span.end;
    }
    return span;
}

// A range of pieces of a window.
struct PieceRange {
    std::size_t start = 0, end = 0;
    double score = -INFINITY;
};

PieceRange best_range(const std::vector<double>& starts, const std::vector<double>& ends, std::int64_t longest) {
    PieceRange best;
    for (std::size_t start = 0; start < starts.size(); ++start) {
        const std::size_t last = std::min(starts.size(), start + static_cast<std::size_t>(longest));
        for (std::size_t end = start; end < last; ++end) {
            if (const double score = starts[start] + ends[end]; score > best.score) {
                best = {start, end, score};
            }
        }
    }
    return best;
}

}  // namespace

AnswerFinder::AnswerFinder(const ModelDirectory& model)
    : config_(model.config), tokenizer_(model.source_tokenizer), frame_(frame_of(model.config)) {
    if (config_.output.head != OutputHead::Span || !traits(config_.architecture).fills_masks) {
        throw Error(fmt::format("{} finds no answers in texts: open one that does, such as a BertForQuestionAnswering",
                                model.path));
    }
}

std::vector<ContextWindow> AnswerFinder::windows(const std::string& question, const std::string& context) const {
    for (const auto& [what, text] : {std::pair{"question", &question}, {"context", &context}}) {
        if (is_empty_text(*text)) {
            throw Error(fmt::format("the {} is empty", what));
        }
    }
    std::vector<std::int32_t> before = frame_.start_of_text();
    const std::vector<std::int32_t> asked = tokenizer_->encode(question);
    before.insert(before.end(), asked.begin(), asked.end());
    before.insert(before.end(), frame_.between.begin(), frame_.between.end());
    const std::vector<std::int32_t> pieces = tokenizer_->encode(context);
    if (pieces.empty()) {
        throw Error("the context has no piece that the model reads");
    }
    const std::int64_t room = config_.max_length - std::ssize(before) - 1;
    if (room < 2) {
        throw Error(fmt::format("the question has {} pieces, and the model reads {} with its context: shorten it",
                                asked.size(), config_.max_length));
    }
    std::vector<ContextWindow> windows;
    const auto most = static_cast<std::size_t>(room);
    for (std::size_t first = 0;; first += most - most / 2) {
        const std::size_t size = std::min(most, pieces.size() - first);
        ContextWindow window{.first = first};
        Example& example = window.example;
        example.target = before;
        const auto begin = pieces.begin() + static_cast<std::ptrdiff_t>(first);
        example.target.insert(example.target.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
        example.target.push_back(frame_.eos);
        example.types = token_types_of(config_, example.target);
        example.labels.assign(example.target.size(), kNoTarget);
        std::fill_n(example.labels.begin() + std::ssize(before), size, 0);
        windows.push_back(std::move(window));
        if (first + size == pieces.size()) {
            return windows;
        }
    }
}

SpanAnswer AnswerFinder::best(const std::string& context, const std::vector<ContextWindow>& windows,
                              const std::vector<std::vector<double>>& scores, std::int64_t longest) const {
    const std::vector<Segment> segments = tokenizer_->split(context);
    SpanAnswer answer{.score = -INFINITY};
    for (std::size_t i = 0; i < windows.size(); ++i) {
        std::vector<double> starts, ends;
        for (std::size_t at = 0; at + 1 < scores[i].size(); at += 2) {
            starts.push_back(scores[i][at]);
            ends.push_back(scores[i][at + 1]);
        }
        const PieceRange range = best_range(starts, ends, longest);
        if (!(range.score > answer.score)) {
            continue;
        }
        const ByteSpan span = trimmed(context, {segments.at(windows[i].first + range.start).span.begin,
                                                segments.at(windows[i].first + range.end).span.end});
        log_softmax(starts);
        log_softmax(ends);
        answer = {.text = context.substr(span.begin, span.end - span.begin),
                  .span = span,
                  .score = range.score,
                  .probability = std::exp(starts[range.start] + ends[range.end])};
    }
    if (!std::isfinite(answer.score)) {
        throw Error(fmt::format("the scores of the answer are {}: the model is broken", answer.score));
    }
    return answer;
}

}  // namespace headscope
