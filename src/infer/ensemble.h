// Ensembles: several models with a common vocabulary that translate together.
#pragma once

#include <memory>
#include <vector>

#include "infer/beam_search.h"
#include "model/generator.h"
#include "model/model_directory.h"

namespace headscope {

// The probability of a token is the mean of the models' probabilities, computed for every token in each step.
class EnsembleScorer final : public Scorer {
public:
    explicit EnsembleScorer(std::vector<std::unique_ptr<Scorer>> members);  // at least one, with the same vocabulary

    std::int64_t vocabulary() const override;
    bool read_on() override;
    bool can_join() const override;
    std::int32_t join(Scorer& other) override;
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override;
    const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                              const std::vector<std::int32_t>& parents) override;

private:
    std::vector<std::unique_ptr<Scorer>> members_;
    NextTokens next_;
    AllTokens all_;
};

// The scorer for a search over `sources` (see ModelScorer): one model or an ensemble. Context and models outlive it.
std::unique_ptr<Scorer> make_scorer(Context& ctx, const std::vector<const Generator*>& models,
                                    const std::vector<std::vector<std::int32_t>>& sources);

// Error that names the families, or the first piece or special token that differs.
void check_can_be_averaged(const ModelDirectory& one, const ModelDirectory& other);

}  // namespace headscope
