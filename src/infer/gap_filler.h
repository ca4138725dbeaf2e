// Fills gaps of several words with a span model (T5): it reads a sentinel for each gap, and writes each sentinel with
// the text of its gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infer/loaded_model.h"

namespace headscope {

// Whether the model translates and its vocabulary has sentinels, `<extra_id_0>` and following.
bool fills_gaps(const ModelDirectory& model);

// The sentinel with which the text begins, "" if it begins with none.
std::string_view sentinel_at(std::string_view text);

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

// Adds to the candidates of each gap that one more output writes its own, if it differs. The spans are equally long;
// control pieces other than the gaps' sentinels end a gap.
void add_gap_candidates(const Tokenizer& tokenizer, const std::vector<std::int32_t>& sentinels,
                        std::span<const std::int32_t> output, std::span<const double> log_probabilities,
                        std::vector<std::vector<GapCandidate>>& gaps);

struct FilledGaps {
    std::string text;  // with the likeliest output
    // For each gap the different ones of the best outputs, best first; none if no output writes the gap.
    std::vector<std::vector<GapCandidate>> gaps;
};

// The model's own search for what fills the gaps, with its `count` best outputs, at most as many as its beam.
class GapSession final : public WorkSession {
public:
    GapSession(const LoadedModel& models, std::string text, std::string_view mark, int count, Compute compute);

    bool step() override { return search_->step(); }
    std::int64_t tokens() const override { return search_->tokens(); }
    // After the last step. Error for a text that the model cannot read.
    FilledGaps take();

private:
    const ModelDirectory& model_;
    const std::string text_;
    const GapText gaps_;
    TranslationWork work_;
    std::unique_ptr<SearchSession> search_;
};

}  // namespace headscope
