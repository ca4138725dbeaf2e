// Token probabilities of texts under language models.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "infer/teacher_forced.h"

namespace headscope {

// A run of a text that a model reads at once.
struct TextBlock {
    std::size_t text = 0;            // of some
    std::size_t index = 0;           // in its text
    std::size_t begin = 0, end = 0;  // positions of the text, with the ids around it that the model reads
};

// The blocks of about equal length, at most `longest`, that texts are cut into, in order.
std::vector<TextBlock> text_blocks(const ModelConfig& config, std::int64_t longest,
                                   std::span<const std::vector<std::int32_t>> texts);
// The same of a text with this many positions.
void add_blocks(std::size_t text, std::size_t positions, std::size_t longest, std::vector<TextBlock>& blocks);

// `texts` are pieces without special ids. Causal models predict each piece and eos from those before; without a
// bos_id, the first piece is given. Masked models
// predict each piece from all others, one masked at a time, and no eos: the sum of the log-probabilities is the
// pseudo-log-likelihood (Salazar et al., 2020). As in training, a text longer than the models' max_length is cut into
// blocks of about equal length, and a piece is predicted from its own block. Ensembles and limits as in
// force_targets().
std::vector<std::vector<ForcedToken>> force_texts(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const ForcedLimits& limits = {});

// force_texts() step by step, of some blocks of the texts. Texts and context outlive it.
class ForcedTexts final : public ForcedSession {
public:
    ForcedTexts(Context& ctx, std::vector<const Model*> models, std::span<const std::vector<std::int32_t>> texts,
                std::vector<TextBlock> blocks, const ForcedLimits& limits);
    ForcedTexts(Context& ctx, const std::vector<const Model*>& models, std::span<const std::vector<std::int32_t>> texts,
                const ForcedLimits& limits);

    bool step() override;
    std::int64_t tokens() const override { return tokens_ + (batches_ ? batches_->tokens() : 0); }

private:
    bool begin_some();
    void add(const TextBlock& block);

    Context& ctx_;
    const std::vector<const Model*> models_;
    const std::span<const std::vector<std::int32_t>> texts_;
    const ForcedLimits limits_;
    const Frame frame_;
    const std::vector<TextBlock> blocks_;
    std::size_t next_ = 0;           // block
    std::vector<Example> examples_;  // of some texts at a time
    std::vector<std::size_t> texts_of_;
    std::optional<ForcedTargets> batches_;  // of the examples
    std::int64_t tokens_ = 0;               // of earlier ones
};

}  // namespace headscope
