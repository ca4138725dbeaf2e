#include "model/masked_lm.h"

namespace headscope {

MaskedLm::MaskedLm(const ModelConfig& config, const Scope& model)
    : MaskedLm(config, model, EmbeddingTable(config, model.in("embedding"), "Embedding", config.target_vocabulary)) {}

MaskedLm::MaskedLm(const ModelConfig& config, const Scope& model, const EmbeddingTable& table)
    : Model(config),
      stack_(config, model.in("encoder").for_each(&MultiplyAdds::source_token),
             {.layers = config.encoder_layers, .self = AttentionKind::EncoderSelf}, table.weight, positions_, sites_),
      projection_(config, model, table) {
    add_score_output(model);
}

Var MaskedLm::states(Context& ctx, const DeviceBatch& batch) const {
    return stack_(ctx, batch.target, {.key_lengths = batch.target.lengths, .key_ranges = batch.target.ranges});
}

}  // namespace headscope
