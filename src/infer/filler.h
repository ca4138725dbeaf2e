// Fills in masked tokens with a masked language model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "infer/translator.h"

namespace headscope {

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
    std::vector<std::int32_t> ids;  // with the likeliest token at each masked position
    std::string text;
    std::vector<MaskedPosition> masks;  // in order of position
};

class Filler {
public:
    static constexpr int kSpecial = 5;  // pieces that are no candidates: pad, bos, eos, unk and the mask
    static constexpr int kMostCandidates = LogSoftmaxTopK::kMaxK - kSpecial;

    // The first of the loaded models, which outlive the filler. Error for another family.
    Filler(Backend& backend, const Translator& models, Compute compute = Compute::F32);

    const ModelDirectory& model() const { return model_; }

    // The ids of a text in which each `mask`, such as "[MASK]", is one masked token. Error if there is none, if the
    // text is not UTF-8 or too long for the model.
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
