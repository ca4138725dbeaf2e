// A translator that writes all pieces at once, then the least certain ones again: a conditional masked language model
// (Ghazvininejad et al., 2019, "Mask-Predict"). The paper's outlook (section 7): less sequential generation.
#pragma once

#include <cstdint>

#include "model/cache.h"
#include "model/encoder_decoder.h"
#include "model/model.h"
#include "model/projection.h"
#include "model/stack.h"

namespace headscope {

// The decoder reads a text in which some pieces are masks, in both directions, without a beginning or an end, and
// predicts each piece at its own position. How long the text is, the encoder's state of the source's last token says.
class MaskPredict final : public Model {
public:
    MaskPredict(const ModelConfig& config, const Scope& model);
    MaskPredict(const ModelConfig& config, const Parameters& parameters, ModelDescription declared = {})
        : MaskPredict(config, Scope(declared, &parameters)) {}

    Var states(Context& ctx, const DeviceBatch& batch) const override;

    // Translating, without a tape; of `batch` only the source is read.
    Var encode(Context& ctx, const DeviceBatch& batch) const;  // [sentences, source_length, d_model]
    // Of 0 to max_length - 1 pieces: [sentences, max_length].
    Tensor length_logits(Context& ctx, const DeviceBatch& batch, const Var& memory) const;
    // For `rows` texts, the same number for each source.
    Cache start(Context& ctx, const DeviceBatch& batch, const Var& memory, std::int64_t rows) const;
    // The states of texts, ids I32 [rows, length], lengths I32 [rows]; result [rows, length, d_model].
    Var read(Context& ctx, const Cache& cache, const Tensor& ids, const Tensor& lengths) const;

private:
    MaskPredict(const ModelConfig& config, const Scope& model, const TwoTables& tables);
    const Projection& projection() const override { return projection_; }
    const Stack& writer() const override { return decoder_; }
    // Those of the length are added to LossSums::loss.
    LossSums batch_loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const override;
    Var decode(Context& ctx, const DeviceBatch& batch, const Var& memory) const;
    Var last_states(Context& ctx, const DeviceBatch& batch, const Var& memory) const;  // [1, sentences, d_model]

    Stack encoder_;
    Stack decoder_;
    Projection projection_;
    Var length_weight_, length_bias_;  // [max_length, d_model], [max_length]
};

// Error if the model is of another kind.
const MaskPredict& as_mask_predict(const Model& model);

}  // namespace headscope
