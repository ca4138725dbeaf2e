#include "model/mask_predict.h"

#include <fmt/format.h>

#include "backend/ops/elementwise.h"
#include "model/output_loss.h"
#include "support/check.h"

namespace headscope {

MaskPredict::MaskPredict(const ModelConfig& config, const Scope& model)
    : MaskPredict(config, model, TwoTables(config, model)) {}

MaskPredict::MaskPredict(const ModelConfig& config, const Scope& model, const TwoTables& tables)
    : Model(config),
      encoder_(config, model.in("encoder").for_each(&MultiplyAdds::source_token),
               {.layers = config.encoder_layers, .self = AttentionKind::EncoderSelf}, tables.source.weight, positions_,
               sites_),
      decoder_(config, model.in("decoder").for_each(&MultiplyAdds::target_token),
               {.layers = config.decoder_layers, .self = AttentionKind::DecoderSelf, .cross = true},
               tables.target.weight, positions_, sites_),
      projection_(config, model, tables.target) {
    const Scope length = model.in("length");
    length.block({.kind = BlockKind::Linear,
                  .title = "Length",
                  .detail = fmt::format("{} \u2192 {}", config.d_model, fmt::group_digits(config.max_length))});
    length_weight_ = length.table(config.max_length, config.d_model);
    length.multiply_adds(&MultiplyAdds::sentence, config.max_length * config.d_model);
    length_bias_ = length.values("bias", {config.max_length}, Initial::Zero);
}

Var MaskPredict::encode(Context& ctx, const DeviceBatch& batch) const {
    return encoder_(ctx, batch.source, {.key_lengths = batch.source.lengths});
}

Var MaskPredict::decode(Context& ctx, const DeviceBatch& batch, const Var& memory) const {
    return decoder_(ctx, batch.target, {.key_lengths = batch.target.lengths}, {memory, batch.source.lengths});
}

Var MaskPredict::states(Context& ctx, const DeviceBatch& batch) const {
    return decode(ctx, batch, encode(ctx, batch));
}

Var MaskPredict::last_states(Context& ctx, const DeviceBatch& batch, const Var& memory) const {
    HEADSCOPE_CHECK(batch.source_ends.rows.defined(), "the batch does not say where its sources end");
    return gather(ctx, memory, batch.source_ends);
}

LossSums MaskPredict::batch_loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const {
    const Var memory = encode(ctx, batch);
    const LossSums sums = token_loss(ctx, decode(ctx, batch, memory), batch, options);
    set_label(ctx, "length", "");
    const LossSums length = output_loss(ctx, last_states(ctx, batch, memory), {length_weight_, length_bias_},
                                        batch.source_ends, {.epsilon = 0.0F, .gradient_scale = options.gradient_scale});
    ctx.backend.run(Copy{.x = length.nll, .out = sums.loss, .write = Write::Accumulate});
    return sums;
}

Tensor MaskPredict::length_logits(Context& ctx, const DeviceBatch& batch, const Var& memory) const {
    set_label(ctx, "length", "");
    const Var logits =
        linear_activation(ctx, last_states(ctx, batch, memory), length_weight_, length_bias_, Activation::None);
    return logits.value().reshape({batch.sentences, config_.max_length});
}

Cache MaskPredict::start(Context& ctx, const DeviceBatch& batch, const Var& memory, std::int64_t rows) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    HEADSCOPE_CHECK(rows % batch.sentences == 0, "each source has the same number of rows");
    return decoder_.start_cache(ctx, rows, 0, {memory, batch.source.lengths});
}

Var MaskPredict::read(Context& ctx, const Cache& cache, const Tensor& ids, const Tensor& lengths) const {
    return decoder_.reread(ctx, cache, {.ids = ids, .lengths = lengths});
}

const MaskPredict& as_mask_predict(const Model& model) {
    if (const auto* found = dynamic_cast<const MaskPredict*>(&model)) {
        return *found;
    }
    throw Error("the model writes from left to right: \"generation\" is not \"mask_predict\"");
}

}  // namespace headscope
