#include "infer/scored_text.h"

#include <algorithm>
#include <cmath>
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

void append(std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
}

std::size_t labelled_place(const Example& example) {
    const auto at = std::ranges::find_if(example.labels, [](std::int32_t label) { return label != kNoTarget; });
    return static_cast<std::size_t>(at - example.labels.begin());
}

}  // namespace

ScoredTextEncoder::ScoredTextEncoder(const ModelConfig& config, std::shared_ptr<const Tokenizer> source, Frame frame)
    : config_(config), tokenizer_(std::move(source)), frame_(std::move(frame)) {}

std::vector<std::int32_t> ScoredTextEncoder::pieces_of(const std::string& text) const {
    if (is_empty_text(text)) {
        throw Error("the text is empty");
    }
    return tokenizer_->encode(text);
}

std::int64_t ScoredTextEncoder::length_of(const Example& example) const {
    const std::int64_t source = example.source.empty() ? 0 : frame_.source_positions(std::ssize(example.source));
    return std::max(source, std::ssize(example.target));
}

Example ScoredTextEncoder::encode_any(const std::string& text, const std::optional<std::string>& pair) const {
    const FamilyTraits& family = traits(config_.architecture);
    if (pair && !family.fills_masks) {
        throw Error(
            fmt::format("the model is a {}, which has nothing to tell two texts apart: give one text", family.name));
    }
    Example example;
    if (family.reads_source) {
        return of_source(pieces_of(text));
    }
    example.target = frame_.start_of_text();
    append(example.target, pieces_of(text));
    if (pair) {
        append(example.target, frame_.between);
        append(example.target, pieces_of(*pair));
    }
    example.target.push_back(frame_.eos);
    example.types = family.fills_masks ? token_types_of(config_, example.target) : std::vector<std::int32_t>();
    return labelled(std::move(example));
}

Example ScoredTextEncoder::of_source(std::vector<std::int32_t> pieces) const {
    // Without a decoder there are the states of the source.
    const std::int64_t positions = frame_.source_positions(std::ssize(pieces));
    Example example{.source = std::move(pieces)};
    example.target =
        has_decoder(config_) ? frame_.start() : std::vector<std::int32_t>(static_cast<std::size_t>(positions));
    return labelled(std::move(example));
}

Example ScoredTextEncoder::labelled(Example example) const {
    example.labels.assign(example.target.size(), kNoTarget);
    (config_.output.scored == ScoredState::Last ? example.labels.back() : example.labels.front()) = 0;
    example.weights.assign(example.target.size(), 1.0F);
    return example;
}

Example ScoredTextEncoder::encode(const std::string& text, const std::optional<std::string>& pair) const {
    Example example = encode_any(text, pair);
    if (length_of(example) > config_.max_length) {
        throw Error(fmt::format("the text has {} tokens including its ends, but the model takes at most {}: shorten it",
                                length_of(example), config_.max_length));
    }
    return example;
}

void set_wanted(Example& example, WantedLabel wanted) {
    example.labels[labelled_place(example)] = wanted.label;
    example.numbers = std::move(wanted.numbers);
}

LabelForm label_form(const OutputConfig& output) {
    return output.head == OutputHead::Classes  ? LabelForm::Class
           : output.head == OutputHead::Labels ? LabelForm::Classes
                                               : LabelForm::Number;
}

void require_text_scores(const ModelDirectory& model) {
    if (!model.config.output.scores_texts()) {
        throw Error(
            fmt::format("{} gives texts no classes: train one that does with `headscope train --task classify`, "
                        "or open another program's, such as a BertForSequenceClassification",
                        model.path));
    }
}

std::vector<double> log_probabilities_of(const OutputConfig& output, std::vector<double> scores) {
    if (output.head == OutputHead::Labels) {
        std::ranges::transform(scores, scores.begin(), [](double score) {
            return std::min(score, 0.0) - std::log1p(std::exp(-std::abs(score)));
        });
    } else {
        log_softmax(scores);
    }
    return scores;
}

std::vector<double> probabilities_of(const OutputConfig& output, std::vector<double> scores) {
    scores = log_probabilities_of(output, std::move(scores));
    std::ranges::transform(scores, scores.begin(), [](double log_probability) { return std::exp(log_probability); });
    return scores;
}

}  // namespace headscope
