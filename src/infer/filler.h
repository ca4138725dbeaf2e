// Fills in masked tokens with a masked language model.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infer/loaded_model.h"
#include "infer/masked_text.h"
#include "infer/session.h"

namespace headscope {

constexpr int kSpecialPieces = 5;
// Special pieces, which never fill a mask: pad, bos, eos, unk and the mask.
std::array<std::int32_t, kSpecialPieces> never_filled_in(const ModelConfig& config);

struct Candidate {
    std::int32_t id = 0;
    double log_probability = 0.0;
};

// What may stand at a masked position, likeliest first.
struct MaskedPosition {
    std::size_t position = 0;  // in the ids
    std::vector<Candidate> candidates;
    std::vector<Candidate> special = {};  // special pieces as likely as those, which are never filled in
};

struct FilledText {
    std::vector<std::int32_t> ids;      // with the likeliest token at each masked position
    std::string text;                   // decoded
    std::vector<MaskedPosition> masks;  // in order of position
};

// The encoded `text` with the likeliest token in the place of each of the `masks`. The tokenizer decides whether a
// blank separates the token from what precedes: a piece that continues a word is joined to it.
std::string fill_in(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>& masks,
                    const FilledText& filled);

class Filler {
public:
    static const int kMostCandidates;

    // The first of the loaded models, which outlive the filler, as does the observer of its attention. Error for
    // another family.
    Filler(Backend& backend, const LoadedModel& models, Compute compute = Compute::F32,
           AttentionObserver* observer = nullptr);

    const ModelDirectory& model() const { return model_; }

    // encode_masked() of a text with masks. Error if there is none.
    MaskedText encode(std::string_view text, std::string_view mark) const;

    // The `count` likeliest tokens at each masked position. All at once, each is predicted from the others as masks;
    // one by one, the most certain is filled in first and the others see it.
    FilledText fill(std::vector<std::int32_t> ids, int count, bool one_by_one) const;

private:
    friend class FillSession;
    std::vector<MaskedPosition> predict(const std::vector<std::int32_t>& ids, int count) const;

    Backend& backend_;
    const ModelDirectory& model_;
    const Model& masked_lm_;
    Compute compute_;
    AttentionObserver* observer_;
};

// Filler::fill(), of which a step is one pass: all, or one mask at a time.
class FillSession final : public WorkSession {
public:
    FillSession(Filler filler, std::vector<std::int32_t> ids, int count, bool one_by_one);

    bool step() override;
    std::int64_t tokens() const override { return tokens_; }
    FilledText take();  // once no step is left

private:
    const Filler filler_;
    const int count_;
    const bool one_by_one_;
    FilledText result_;
    std::int64_t tokens_ = 0;
};

}  // namespace headscope
