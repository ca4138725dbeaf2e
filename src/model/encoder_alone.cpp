#include "model/encoder_alone.h"

#include "support/check.h"

namespace headscope {

EncoderAlone::EncoderAlone(const ModelConfig& config, const Scope& model)
    : Model(config),
      stack_(config, model.in("encoder").for_each(&MultiplyAdds::source_token),
             {.layers = config.encoder_layers, .self = AttentionKind::EncoderSelf}, Var(), positions_, sites_) {
    add_score_output(model);
}

Var EncoderAlone::states(Context& ctx, const DeviceBatch& batch) const {
    return stack_(ctx, batch.source, {.key_lengths = batch.source.lengths});
}

const Projection& EncoderAlone::projection() const {
    throw Error("the model is an encoder without a vocabulary: it writes no text");
}

}  // namespace headscope
