#include "infer/model_scorer.h"

#include <algorithm>

#include "support/check.h"

namespace headscope {

namespace {

constexpr std::int64_t kLengthStep = 8;  // padded lengths repeat, and with them addresses and kernels

std::int64_t padded(std::int64_t length) {
    return (length + kLengthStep - 1) / kLengthStep * kLengthStep;
}

Tensor upload_i32(Backend& backend, const Shape& shape, const std::vector<std::int32_t>& values) {
    Tensor tensor = backend.empty(shape, DType::I32);
    backend.upload(tensor, values.data(), values.size() * sizeof(std::int32_t));
    return tensor;
}

}  // namespace

ModelScorer::ModelScorer(Context& ctx, const Transformer& model, const std::vector<std::vector<std::int32_t>>& sources)
    : ctx_(ctx), model_(model) {
    HEADSCOPE_CHECK(!sources.empty(), "there is nothing to translate");
    std::vector<std::int32_t> lengths;
    for (const std::vector<std::int32_t>& source : sources) {
        HEADSCOPE_CHECK(!source.empty(), "a source without a token, not even its end");
        lengths.push_back(static_cast<std::int32_t>(source.size()));
    }
    const std::int64_t length =
        std::min(padded(*std::max_element(lengths.begin(), lengths.end())), model.config().max_length);
    const auto batch = static_cast<std::int64_t>(sources.size());
    std::vector<std::int32_t> ids(static_cast<std::size_t>(batch * length), model.config().pad_id);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        HEADSCOPE_CHECK(static_cast<std::int64_t>(sources[i].size()) <= length,
                        "a source longer than the model's longest");
        std::copy(sources[i].begin(), sources[i].end(), ids.begin() + static_cast<std::ptrdiff_t>(i) * length);
    }
    const Tensor source_ids = upload_i32(ctx.backend, {batch, length}, ids);
    const Tensor source_lengths = upload_i32(ctx.backend, {batch}, lengths);
    const Var memory = model.encode(ctx, source_ids, source_lengths);  // [batch, length, d_model]
    // Translations are about as long as their sources; the cache grows where they are longer.
    cache_ = model.start_cache(ctx, memory.value(), source_lengths, length + kLengthStep);
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
    bool in_place = static_cast<std::int64_t>(parents.size()) == cache_.rows;
    for (std::size_t row = 0; in_place && row < parents.size(); ++row) {
        in_place = parents[row] == static_cast<std::int32_t>(row);
    }
    if (!in_place) {
        const auto rows = static_cast<std::int64_t>(parents.size());
        cache_ = model_.reorder(ctx_, cache_, upload_i32(ctx_.backend, {rows}, parents), rows);
    }
}

}  // namespace headscope
