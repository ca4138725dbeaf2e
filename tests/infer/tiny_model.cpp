#include "tiny_model.h"

#include <utility>

#include "data/device_batch.h"
#include "support/random.h"
#include "text/tokenizer_training.h"

namespace headscope {

ModelConfig tiny_config(std::int64_t vocabulary) {
    ModelConfig config;
    config.encoder_layers = config.decoder_layers = 2;
    config.d_model = 32;
    config.d_ff = 64;
    config.heads = 4;
    config.d_k = config.d_v = 8;
    config.tying = Tying::None;
    config.source_vocabulary = config.target_vocabulary = vocabulary;
    config.max_length = 64;
    return config;
}

TinyModel::TinyModel(Backend& backend, const ModelConfig& config, std::uint64_t seed, DType storage)
    : parameters(std::make_shared<Parameters>(backend, config, false, storage)), transformer(config, *parameters) {
    parameters->initialise(seed);
}

std::vector<std::vector<std::int32_t>> random_sources(std::int64_t count, std::int64_t longest, std::int64_t vocabulary,
                                                      std::uint64_t seed) {
    constexpr std::int32_t kSpecials = 4;
    Random random(seed);
    std::vector<std::vector<std::int32_t>> sources(static_cast<std::size_t>(count));
    for (std::vector<std::int32_t>& source : sources) {
        source.resize(1 + random.below(static_cast<std::uint64_t>(longest)));
        for (std::int32_t& token : source) {
            token =
                kSpecials + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary - kSpecials)));
        }
    }
    return sources;
}

UncachedScorer::UncachedScorer(Context& ctx, const Transformer& model,
                               const std::vector<std::vector<std::int32_t>>& sources)
    : ctx_(ctx), model_(model), sources_(sources) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
        rows_.push_back({i, {}});
    }
}

std::int64_t UncachedScorer::vocabulary() const {
    return model_.config().target_vocabulary;
}

const NextTokens& UncachedScorer::step(const std::vector<std::int32_t>& tokens,
                                       const std::vector<std::int32_t>& parents, int k) {
    const ModelConfig& config = model_.config();
    std::vector<Row> rows;
    std::vector<std::vector<std::int32_t>> sources;
    std::vector<std::int32_t> prefixes;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        rows.push_back(rows_.at(static_cast<std::size_t>(parents[i])));
        rows.back().prefix.push_back(tokens[i]);
        sources.push_back(sources_[rows.back().sentence]);
        prefixes.insert(prefixes.end(), rows.back().prefix.begin(), rows.back().prefix.end());
    }
    rows_ = std::move(rows);
    const auto count = static_cast<std::int64_t>(tokens.size());
    const auto length = static_cast<std::int64_t>(rows_.front().prefix.size());
    const DeviceBatch batch =
        upload(ctx_.backend, make_source_batch(sources, {config.pad_id, config.bos_id, config.eos_id, config.unk_id},
                                               {.longest = config.max_length}));
    const Var memory = model_.encode(ctx_, batch.source, batch.source_lengths);
    const Tensor target = make_from_host<std::int32_t>(ctx_.backend, {count, length}, DType::I32, prefixes);
    const Var hidden = model_.decode(ctx_, target, memory, batch.source_lengths);  // [count, length, d_model]
    const Tensor logits = model_.logits(ctx_, hidden).value().reshape({count * length, config.target_vocabulary});
    const Tensor values = ctx_.backend.empty({count * length, k}, ctx_.backend.real());
    const Tensor indices = ctx_.backend.empty({count * length, k}, DType::I32);
    ctx_.backend.run(LogSoftmaxTopK{.logits = logits, .values = values, .indices = indices});
    const std::vector<float> all_values = to_host<float>(ctx_.backend, values);
    const std::vector<std::int32_t> all_indices = to_host<std::int32_t>(ctx_.backend, indices);
    next_ = {.rows = count, .k = k, .log_probabilities = {}, .tokens = {}};
    for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t first = (row * length + length - 1) * k;  // the newest position
        next_.log_probabilities.insert(next_.log_probabilities.end(), all_values.begin() + first,
                                       all_values.begin() + first + k);
        next_.tokens.insert(next_.tokens.end(), all_indices.begin() + first, all_indices.begin() + first + k);
    }
    return next_;
}

Translator tiny_translator(Backend& backend, std::int64_t max_length) {
    const std::string bytes =
        train_tokenizer({.sentences = {"the small dog sees the big cat", "a cat sleeps on the mat",
                                       "der kleine hund sieht die grosse katze", "eine katze liegt auf der matte"},
                         .vocabulary_size = 60});
    const auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::from_bytes(bytes, "test vocabulary"));
    ModelConfig config = tiny_config(tokenizer->size());
    config.max_length = max_length;
    const TinyModel model(backend, config);
    return {backend, ModelDirectory{"memory", config, tokenizer, tokenizer}, model.parameters};
}

}  // namespace headscope
