#include "tiny_model.h"

#include <utility>

#include "backend/ops/elementwise.h"
#include "backend/ops/search.h"
#include "data/device_batch.h"
#include "support/random.h"
#include "text/tokenizer_training.h"

namespace headscope {

ModelConfig tiny_config(std::int64_t vocabulary) {
    ModelConfig config;
    config.encoder_layers = config.decoder_layers = 2;
    config.d_model = 32;
    config.feed_forward.d_ff = 64;
    config.attention.heads = 4;
    config.attention.d_k = config.attention.d_v = 8;
    config.embedding.tying = Tying::None;
    config.source_vocabulary = config.target_vocabulary = vocabulary;
    config.max_length = 64;
    return config;
}

ModelConfig tiny_language_config(Architecture family) {
    ModelConfig config = tiny_config();
    config.architecture = family;
    config.max_length = 24;
    (family == Architecture::CausalLm ? config.encoder_layers : config.decoder_layers) = 0;
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

std::vector<std::vector<std::int32_t>> ended(std::vector<std::vector<std::int32_t>> sources) {
    for (std::vector<std::int32_t>& source : sources) {
        source.push_back(ModelConfig{}.frame.eos_id);
    }
    return sources;
}

UncachedScorer::UncachedScorer(Context& ctx, const EncoderDecoder& model,
                               const std::vector<std::vector<std::int32_t>>& sources)
    : ctx_(ctx), model_(model), sources_(ended(sources)) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
        rows_.push_back({i, {}});
    }
}

std::int64_t UncachedScorer::vocabulary() const {
    return model_.config().target_vocabulary;
}

Tensor UncachedScorer::newest_logits(const std::vector<std::int32_t>& tokens,
                                     const std::vector<std::int32_t>& parents) {
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
        upload(ctx_.backend, make_source_batch(sources, config.frame.pad_id, {.longest = config.max_length}));
    const Var memory = model_.encode(ctx_, batch.source);
    const Tensor target = make_from_host<std::int32_t>(ctx_.backend, {count, length}, DType::I32, prefixes);
    const Var hidden =
        model_.decode(ctx_, {.ids = target}, {memory, batch.source.lengths});  // [count, length, d_model]
    const Tensor logits = model_.logits(ctx_, hidden).value();                 // [count, length, vocabulary]
    const Tensor newest = ctx_.backend.empty({count, 1, config.target_vocabulary}, logits.dtype);
    ctx_.backend.run(Copy{.x = logits.narrow(1, length - 1, 1), .out = newest});
    return newest.reshape({count, config.target_vocabulary});
}

const NextTokens& UncachedScorer::step(const std::vector<std::int32_t>& tokens,
                                       const std::vector<std::int32_t>& parents, int k) {
    const Tensor logits = newest_logits(tokens, parents);
    const std::int64_t count = logits.dim(0);
    const Tensor values = ctx_.backend.empty({count, k}, ctx_.backend.full_dtype());
    const Tensor indices = ctx_.backend.empty({count, k}, DType::I32);
    ctx_.backend.run(LogSoftmaxTopK{.logits = logits, .values = values, .indices = indices});
    next_ = {.rows = count,
             .k = k,
             .log_probabilities = to_host<float>(ctx_.backend, values),
             .tokens = to_host<std::int32_t>(ctx_.backend, indices)};
    return next_;
}

const AllTokens& UncachedScorer::step_all(const std::vector<std::int32_t>& tokens,
                                          const std::vector<std::int32_t>& parents) {
    const Tensor logits = newest_logits(tokens, parents);
    all_ = {
        .rows = logits.dim(0), .vocabulary = logits.dim(1), .log_probabilities = to_host<float>(ctx_.backend, logits)};
    for (std::int64_t row = 0; row < all_.rows; ++row) {
        log_softmax(all_.row(row));
    }
    return all_;
}

namespace {

using Pieces = std::vector<std::string>;

std::string tiny_vocabulary(const std::string& more_text, bool masks = false) {
    std::vector<std::string> sentences{"the small dog sees the big cat", "a cat sleeps on the mat",
                                       "der kleine hund sieht die grosse katze", "eine katze liegt auf der matte"};
    if (!more_text.empty()) {
        sentences.push_back(more_text);
    }
    return train_tokenizer(
        {.sentences = sentences, .vocabulary_size = 60, .control_pieces = masks ? Pieces{"<mask>"} : Pieces{}});
}

}  // namespace

LoadedModel tiny_translator(Backend& backend, ModelConfig config, const WeightStorage& storage) {
    const bool masks = config.architecture == Architecture::MaskedLm;
    const auto tokenizer =
        std::make_shared<const Tokenizer>(Tokenizer::from_bytes(tiny_vocabulary("", masks), "test vocabulary"));
    config.frame.mask_id = masks ? tokenizer->vocabulary().find("<mask>").value() : config.frame.mask_id;
    config.source_vocabulary = config.target_vocabulary = tokenizer->size();
    const auto parameters = std::make_shared<Parameters>(backend, config, false, storage);
    parameters->initialise(3);
    return {backend, ModelDirectory{"memory", config, tokenizer, tokenizer}, parameters};
}

LoadedModel tiny_translator(Backend& backend, std::int64_t max_length) {
    ModelConfig config = tiny_config();
    config.max_length = max_length;
    return tiny_translator(backend, config);
}

void write_tiny_model(Backend& backend, const std::string& path, std::uint64_t seed, const std::string& more_text) {
    const Tokenizer tokenizer = Tokenizer::from_bytes(tiny_vocabulary(more_text), "test vocabulary");
    const ModelConfig config = tiny_config(tokenizer.size());
    write_model_directory(backend, path, config, *TinyModel(backend, config, seed).parameters, DType::F32, tokenizer,
                          tokenizer);
}

}  // namespace headscope
