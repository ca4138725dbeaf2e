// Fills in masked tokens with a masked language model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/masked_lm.h"
#include "model/model_directory.h"

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

    // Error if the directory holds another family's model. `storage` as in Parameters. The backend outlives the filler.
    Filler(Backend& backend, const std::string& directory, DType storage, Compute compute);
    // The same for a model in memory.
    Filler(Backend& backend, ModelDirectory model, std::shared_ptr<const Parameters> parameters);

    const ModelDirectory& model() const { return model_; }

    // The ids of a text in which each `mask`, such as "[MASK]", is one masked token. Error if there is none, if the
    // text is not UTF-8 or too long for the model.
    std::vector<std::int32_t> encode(std::string_view text, std::string_view mask) const;

    // The `count` likeliest tokens at each masked position. All at once, each is predicted from the others as masks;
    // one by one, the most certain is filled in first and the others see it.
    FilledText fill(std::vector<std::int32_t> ids, int count, bool one_by_one) const;

    // The sum over all tokens of log P(token | the others), each masked in turn (Salazar et al., 2020). Error if there
    // are too many tokens.
    double pseudo_log_likelihood(std::string_view text) const;

private:
    std::vector<MaskedPosition> predict(const std::vector<std::int32_t>& ids, int count) const;
    void check_length(std::size_t tokens) const;

    Backend& backend_;
    ModelDirectory model_;
    Compute compute_ = Compute::F32;
    std::shared_ptr<const Parameters> parameters_;
    MaskedLm masked_lm_;
};

}  // namespace headscope
