#include "model/causal_lm.h"

namespace headscope {

CausalLm::CausalLm(const ModelConfig& config, const Scope& model)
    : CausalLm(config, model, EmbeddingTable(config, model.in("embedding"), "Embedding", config.target_vocabulary)) {}

CausalLm::CausalLm(const ModelConfig& config, const Scope& model, const EmbeddingTable& table)
    : Generator(config),
      stack_(config, model.in("decoder").for_each(&MultiplyAdds::target_token),
             {.layers = config.decoder_layers, .self = AttentionKind::DecoderSelf}, table.weight, positions_, sites_),
      projection_(config, model, table) {
    add_score_output(model);
}

Var CausalLm::states(Context& ctx, const DeviceBatch& batch) const {
    const Tensor lengths = ctx.observer != nullptr ? batch.target.lengths : Tensor();  // it may take the mask off
    return stack_(ctx, batch.target, {.key_lengths = lengths, .causal = true, .key_ranges = batch.target.ranges});
}

Cache CausalLm::start(Context& ctx, const DeviceBatch& batch) const {
    constexpr std::int64_t kFirstTokens = 64;
    return stack_.start_cache(ctx, batch.sentences, kFirstTokens);
}

}  // namespace headscope
