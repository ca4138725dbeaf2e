// Token probabilities of texts under language models.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "infer/teacher_forced.h"

namespace headscope {

// `texts` are pieces without special ids. Causal models predict each piece and eos from those before; without a
// bos_id, the first piece is given. Masked models
// predict each piece from all others, one masked at a time, and no eos: the sum of the log-probabilities is the
// pseudo-log-likelihood (Salazar et al., 2020). As in training, a text longer than the models' max_length is cut into
// blocks of about equal length, and a piece is predicted from its own block. Ensembles and limits as in
// force_targets().
std::vector<std::vector<ForcedToken>> force_texts(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const ForcedLimits& limits = {});

// force_texts() step by step. Texts and context outlive it.
class ForcedTexts final : public ForcedSession {
public:
    ForcedTexts(Context& ctx, std::vector<const Model*> models, std::span<const std::vector<std::int32_t>> texts,
                const ForcedLimits& limits);

    bool step() override;
    std::int64_t tokens() const override { return tokens_ + (batches_ ? batches_->tokens() : 0); }

private:
    bool begin_some();
    void add_block();

    Context& ctx_;
    const std::vector<const Model*> models_;
    const std::span<const std::vector<std::int32_t>> texts_;
    const ForcedLimits limits_;
    const Frame frame_;
    std::int64_t longest_ = 0;
    std::size_t next_ = 0;  // text, and its block
    std::size_t block_ = 0;
    std::vector<Example> examples_;  // of some texts at a time
    std::vector<std::size_t> texts_of_;
    std::optional<ForcedTargets> batches_;  // of the examples
    std::int64_t tokens_ = 0;               // of earlier ones
};

}  // namespace headscope
