// Several models that share a vocabulary and translate together.
#pragma once

#include <memory>
#include <vector>

#include "infer/beam_search.h"
#include "model/model_directory.h"
#include "model/transformer.h"

namespace headscope {

// The next token's probability is the mean of what the members give it. They are asked for every token each step.
class EnsembleScorer final : public Scorer {
public:
    explicit EnsembleScorer(std::vector<std::unique_ptr<Scorer>> members);  // of one vocabulary, at least one

    std::int64_t vocabulary() const override;
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override;
    const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                              const std::vector<std::int32_t>& parents) override;

private:
    std::vector<std::unique_ptr<Scorer>> members_;
    NextTokens next_;
    AllTokens all_;
};

// What a search over `sources` (pieces without their end) asks: one model, or all of an ensemble.
// Context and models outlive it.
std::unique_ptr<Scorer> make_scorer(Context& ctx, const std::vector<const Transformer*>& models,
                                    const std::vector<std::vector<std::int32_t>>& sources);

// Error that names the first difference, where an id is another piece, or another special token, of one than of the
// other.
void check_same_vocabulary(const ModelDirectory& one, const ModelDirectory& other);

}  // namespace headscope
