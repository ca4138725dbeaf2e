// Fills gaps of several words with a span model (T5): it reads a sentinel for each gap, and writes each sentinel with
// the text of its gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infer/loaded_model.h"

namespace headscope {

// Whether the model translates and its vocabulary has sentinels, `<extra_id_0>` and following.
bool fills_gaps(const ModelDirectory& model);

// A text with sentinels in the place of its gaps.
struct GapText {
    std::string source;
    std::vector<ByteSpan> gaps;           // in the given text
    std::vector<std::int32_t> sentinels;  // of each gap
};

// Each `mark` and each sentinel in the text is a gap. Sentinels keep their numbers if they are all; otherwise gaps are
// numbered from 0. Error if there is none, or more than the model has sentinels.
GapText find_gaps(const ModelDirectory& model, std::string_view text, std::string_view mark);

// What may stand in a gap.
struct GapCandidate {
    std::vector<std::int32_t> ids;
    std::string text;              // begins with a blank if the tokenizer separates it from what precedes
    double log_probability = 0.0;  // of its pieces, after what precedes in the output
};

struct FilledGaps {
    std::string text;                             // with the likeliest output
    std::vector<std::vector<GapCandidate>> gaps;  // for each gap the different ones of the best outputs, best first
};

// The search whose outputs for GapText::source fill the gaps: the model's own, with the `count` best outputs.
DecodingOptions gap_decoding(const LoadedModel& models, int count, Compute compute);
// The text with what these outputs fill in.
FilledGaps filled_gaps(const LoadedModel& models, std::string_view text, const GapText& gaps,
                       const TextResult& outputs);

// Keeps the `count` best outputs of the model's own search, at most as many as its beam. Error for a text that the
// model cannot read.
FilledGaps fill_gaps(const LoadedModel& models, std::string_view text, const GapText& gaps, int count, Compute compute);

}  // namespace headscope
