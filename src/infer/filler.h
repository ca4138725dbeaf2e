// Fills in masked tokens with a masked language model.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infer/translator.h"

namespace headscope {

// The ids of text that follows other text: without a blank of its own, if it does not begin with one.
std::vector<std::int32_t> encode_continuation(const Tokenizer& tokenizer, std::string_view text);

inline constexpr const char* kMaskText = "[MASK]";      // stands for a masked token in a text
inline constexpr const char* kSeparatorText = "[SEP]";  // separates two texts, if the model's tokenizer has this piece

// The ids of a text, with its ends, in which each `mask` is one masked token. Error if it is not UTF-8 or too long for
// the model.
std::vector<std::int32_t> encode_masked(const ModelDirectory& model, std::string_view text, std::string_view mask);

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
};

struct FilledText {
    std::vector<std::int32_t> ids;      // with the likeliest token at each masked position
    std::string text;                   // decoded
    std::vector<MaskedPosition> masks;  // in order of position
};

// The encoded `text` with the likeliest token at each `mask`. The tokenizer decides whether a blank separates the token
// from what precedes: a piece that continues a word is joined to it.
std::string fill_in(const Tokenizer& tokenizer, std::string_view text, std::string_view mask, const FilledText& filled);

class Filler {
public:
    static constexpr int kMostCandidates = LogSoftmaxTopK::kMaxK - kSpecialPieces;

    // The first of the loaded models, which outlive the filler. Error for another family.
    Filler(Backend& backend, const Translator& models, Compute compute = Compute::F32);

    const ModelDirectory& model() const { return model_; }

    // encode_masked() of a text with masks. Error if there is none.
    std::vector<std::int32_t> encode(std::string_view text, std::string_view mask) const;

    // The `count` likeliest tokens at each masked position. All at once, each is predicted from the others as masks;
    // one by one, the most certain is filled in first and the others see it.
    FilledText fill(std::vector<std::int32_t> ids, int count, bool one_by_one) const;

private:
    std::vector<MaskedPosition> predict(const std::vector<std::int32_t>& ids, int count) const;

    Backend& backend_;
    const ModelDirectory& model_;
    const Model& masked_lm_;
    Compute compute_;
};

}  // namespace headscope
