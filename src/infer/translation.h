// A line to translate, what is wanted of it, and what came out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/ops/matmul.h"
#include "infer/hypotheses.h"
#include "text/tokenizer.h"

namespace headscope {

struct SourceLine {
    std::string text;
    std::string prefix = {};   // what its translation begins with
    std::uint32_t number = 0;  // of the line in the whole text; what sampling draws depends on it
};

struct TranslationOptions {
    SearchOptions search;
    // Padded source tokens that are translated at a time, so that memory stays bounded. One sentence always fits.
    std::int64_t batch_tokens = 1024;
    Compute compute = Compute::F32;  // of products, see Matmul::compute
    // A line of more pieces, its end included, is translated sentence by sentence; none: what the model takes at most;
    // 0: no line is split.
    std::optional<std::int64_t> split_longer_than{};
    // A line of more that has no end of a sentence to split it at says so: for whoever asked for the splitting himself.
    bool tells_unsplit = true;
};

// One translation of a line.
struct Translation {
    std::vector<std::int32_t> ids;  // with eos, unless it was cut
    std::string text;
    double log_probability = 0.0;
    double score = 0.0;  // log_probability / lp(length)
    EndReason end = EndReason::EndOfSentence;
    std::size_t begin = 0;  // of a part of a line: where its text begins in the line's
};

struct TranslatedSentence {
    ByteSpan span;                         // what of the line is translated
    std::vector<std::int32_t> source_ids;  // with eos; empty for an empty line
    bool unknown = false;                  // some of the source is no piece of the vocabulary: the unknown piece
    std::vector<std::int32_t> target_ids;  // of the best translation, as are the next four
    std::string text;
    double log_probability = 0.0;
    double score = 0.0;
    EndReason end = EndReason::EndOfSentence;
    std::string problem;  // why there is no translation, such as a line too long for the model; normally empty
    std::string remark;   // what a reader should know of it: that the line was split; normally empty
    // As many as were asked for, best first; of an empty line one, empty and of score 0; none where there is a problem.
    std::vector<Translation> n_best;
    // The sentences of a line that was split, each with an end of its own. The line's ids are theirs, one after the
    // other, its texts theirs with a blank between, its log probabilities their sums; its i-th best is made of their
    // i-th bests, but for those that read the same.
    std::vector<TranslatedSentence> parts;
};

}  // namespace headscope
