// Lines to translate, options and results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/choices.h"
#include "infer/hypotheses.h"
#include "model/family.h"
#include "text/tokenizer.h"

namespace headscope {

class AttentionObserver;

struct SourceLine {
    std::string text;
    std::string prefix = {};             // forced beginning of the translation
    std::uint32_t number = 0;            // of the line in the whole text; a key of random sampling
    std::vector<std::int32_t> ids = {};  // a complete prompt of a causal language model, in place of a text
};

struct DecodingOptions {
    SearchOptions search;
    // Padded source tokens per batch, to bound memory. At least one sentence.
    std::int64_t batch_tokens = 1024;
    Compute compute = Compute::F32;  // of products, see Matmul::compute
    // Lines of more pieces (including the end) are translated sentence by sentence; std::nullopt: the model's maximum;
    // 0: never split.
    std::optional<std::int64_t> split_longer_than{};
    // Add a remark to lines that should be split but have no end of a sentence: for users who asked for splitting.
    bool warn_unsplit = true;
    // Makes SearchTask::forbidden_after for a line, or for a part of one that is split; may be empty.
    std::function<decltype(SearchTask::forbidden_after)(std::string_view text)> rule_for = {};
    AttentionObserver* observer = nullptr;  // sees the attention weights, and may replace them; may be null
};

// default_search() and the batches that suit it: prompts are short.
inline DecodingOptions default_decoding_options(Architecture family) {
    DecodingOptions options{.search = default_search(family)};
    options.batch_tokens = traits(family).continues_text ? 4096 : options.batch_tokens;
    return options;
}

// One translation of a line.
struct Translation {
    std::vector<std::int32_t> ids;  // with Frame::target_begin, and eos unless cut
    std::string text;
    double log_probability = 0.0;
    double score = 0.0;  // log_probability / lp(length)
    EndReason end = EndReason::EndOfSentence;
    std::vector<double> token_log_probabilities = {};  // of `ids`; empty for a joined line
    std::vector<Alternatives> alternatives = {};       // of `ids`, if SearchOptions::alternatives; same exception
    std::size_t begin = 0;                             // of a part of a line: position of its text in the line's text
    std::size_t given = 0;                             // tokens of `ids` that were not chosen: Frame::target_begin
};

struct TextResult {
    ByteSpan span;                         // the part of the line that was translated
    std::vector<std::int32_t> source_ids;  // complete (Frame::source); empty for an empty line
    // SearchOptions::echo: the probabilities of source_ids without the first, and what else they could have been.
    std::vector<WrittenToken> echo;
    bool unknown = false;                  // part of the source is not in the vocabulary
    std::vector<std::int32_t> target_ids;  // of the best translation, like the next four
    std::string text;
    double log_probability = 0.0;
    double score = 0.0;
    EndReason end = EndReason::EndOfSentence;
    std::string problem;  // why there is no translation, such as too long a line; normally empty
    std::string remark;   // a note for users, such as that the line was split; normally empty
    // SearchOptions::n_best translations, best first; one empty translation for an empty line; none if there is a
    // problem.
    std::vector<Translation> n_best;
    // The sentences of a split line, each with its own eos. The line's ids are concatenated, its texts joined with a
    // space, its log probabilities summed. Its i-th best is made of their i-th bests, without duplicate texts.
    std::vector<TextResult> parts;
};

// The sentences of a line that was split, or the line itself.
inline std::span<const TextResult> sentences_of(const TextResult& line) {
    return line.parts.empty() ? std::span(&line, 1) : std::span(line.parts);
}

}  // namespace headscope
