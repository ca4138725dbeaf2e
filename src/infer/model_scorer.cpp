#include "infer/model_scorer.h"

#include <numeric>
#include <utility>

#include "data/device_batch.h"
#include "support/check.h"

namespace headscope {

namespace {

Tensor upload_i32(Backend& backend, const Shape& shape, const std::vector<std::int32_t>& values) {
    Tensor tensor = backend.empty(shape, DType::I32);
    backend.upload(tensor, values.data(), values.size() * sizeof(std::int32_t));
    return tensor;
}

}  // namespace

ModelScorer::ModelScorer(Context& ctx, const Transformer& model, const std::vector<std::vector<std::int32_t>>& sources)
    : ctx_(ctx), model_(model) {
    const ModelConfig& config = model.config();
    const DeviceBatch batch =
        upload(ctx.backend,
               make_source_batch(
                   sources, {.pad = config.pad_id, .bos = config.bos_id, .eos = config.eos_id, .unk = config.unk_id},
                   {.longest = config.max_length}));
    const Var memory = model.encode(ctx, batch.source, batch.source_lengths);  // [sentences, source_length, d_model]
    // Translations are about as long as their sources; the cache grows where they are longer.
    cache_ = model.start_cache(ctx, memory.value(), batch.source_lengths, batch.source_length + kLengthMultiple);
    sentences_.resize(sources.size());
    std::iota(sentences_.begin(), sentences_.end(), 0);
}

std::int64_t ModelScorer::vocabulary() const {
    return model_.config().target_vocabulary;
}

const NextTokens& ModelScorer::step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                    int k) {
    HEADSCOPE_CHECK(!tokens.empty() && tokens.size() == parents.size(), "each row needs one token and one parent");
    follow(parents);
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const Tensor logits = model_.step(ctx_, cache_, upload_i32(ctx_.backend, {rows, 1}, tokens));  // [rows, vocabulary]
    const Tensor values = ctx_.backend.empty({rows, k}, ctx_.backend.real());
    const Tensor indices = ctx_.backend.empty({rows, k}, DType::I32);
    ctx_.backend.run(LogSoftmaxTopK{.logits = logits, .values = values, .indices = indices});
    next_.rows = rows;
    next_.k = k;
    next_.log_probabilities = to_host<float>(ctx_.backend, values);
    next_.tokens = to_host<std::int32_t>(ctx_.backend, indices);
    return next_;
}

void ModelScorer::follow(const std::vector<std::int32_t>& parents) {
    bool in_place = parents.size() == sentences_.size();
    std::vector<std::int32_t> sentences;
    for (std::size_t row = 0; row < parents.size(); ++row) {
        in_place = in_place && parents[row] == static_cast<std::int32_t>(row);
        sentences.push_back(sentences_.at(static_cast<std::size_t>(parents[row])));
    }
    if (in_place) {
        return;
    }
    const auto rows = static_cast<std::int64_t>(parents.size());
    // Beams of one sentence look at the same source, so its keys and values need not move.
    const bool same_sources = sentences == sentences_;
    cache_ = model_.reorder(ctx_, cache_, upload_i32(ctx_.backend, {rows}, parents), rows, same_sources);
    sentences_ = std::move(sentences);
}

}  // namespace headscope
