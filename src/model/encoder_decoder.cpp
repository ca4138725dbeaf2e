#include "model/encoder_decoder.h"

#include "data/batch.h"
#include "support/check.h"

namespace headscope {

namespace {

bool share_embedding(const ModelConfig& config) {
    return !config.input.patches() &&
           (config.embedding.tying == Tying::All || config.embedding.tying == Tying::Embeddings);
}

}  // namespace

TwoTables::TwoTables(const ModelConfig& config, const Scope& model)
    : source(config.input.patches()
                 ? EmbeddingTable(model.in("embedding"))
                 : EmbeddingTable(config, model.in(share_embedding(config) ? "embedding" : "source_embedding"),
                                  "Input Embedding", config.source_vocabulary)),
      target(share_embedding(config)
                 ? EmbeddingTable(config, "Output Embedding", source)
                 : EmbeddingTable(config, model.in("target_embedding"), "Output Embedding", config.target_vocabulary)) {
}

EncoderDecoder::EncoderDecoder(const ModelConfig& config, const Scope& model)
    : EncoderDecoder(config, model, TwoTables(config, model)) {}

EncoderDecoder::EncoderDecoder(const ModelConfig& config, const Scope& model, const TwoTables& tables)
    : Generator(config),
      encoder_(config, model.in("encoder").for_each(&MultiplyAdds::source_token),
               {.layers = config.encoder_layers,
                .self = AttentionKind::EncoderSelf,
                .returns_final_states = !config.attention.cross},
               tables.source.weight, positions_, sites_),
      decoder_(config, model.in("decoder").for_each(&MultiplyAdds::target_token),
               {.layers = config.decoder_layers, .self = AttentionKind::DecoderSelf, .cross = config.attention.cross},
               tables.target.weight, positions_, sites_),
      projection_(config, model, tables.target) {
    add_score_output(model);
}

Var EncoderDecoder::encode(Context& ctx, const DeviceTokens& source) const {
    return encoder_(ctx, source, {.key_lengths = source.lengths});
}

Var EncoderDecoder::decode(Context& ctx, const DeviceTokens& target, const Memory& memory) const {
    // No token attends to later ones, so none attends to pads, which come last, unless an observer edits the mask.
    const Tensor lengths = ctx.observer != nullptr ? target.lengths : Tensor();
    return decoder_(ctx, target, {.key_lengths = lengths, .causal = true}, memory);
}

Var EncoderDecoder::states(Context& ctx, const DeviceBatch& batch) const {
    return decode(ctx, batch.target, {encode(ctx, batch.source), batch.source.lengths});
}

Cache EncoderDecoder::start_cache(Context& ctx, const Tensor& memory, const Tensor& source_lengths,
                                  std::int64_t capacity) const {
    HEADSCOPE_CHECK(ctx.tape == nullptr, "decoding with a cache records no tape");
    return decoder_.start_cache(ctx, memory.dim(0), capacity, {Var(memory), source_lengths});
}

Cache EncoderDecoder::start(Context& ctx, const DeviceBatch& batch) const {
    const Var memory = encode(ctx, batch.source);
    // Translations are about as long as their sources; the cache grows for longer ones.
    return start_cache(ctx, memory.value(), batch.source.lengths, batch.source.length() + kLengthMultiple);
}

}  // namespace headscope
