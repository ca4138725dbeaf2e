// A small model with random weights, and a scorer that decodes without a cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "infer/beam_search.h"
#include "infer/loaded_model.h"
#include "model/encoder_decoder.h"
#include "tests/infer/translate_text.h"

namespace headscope {

// 2+2 layers, d_model 32. Untied, so that a random model does not just repeat what it wrote.
ModelConfig tiny_config(std::int64_t vocabulary = 40);

// The stack of a language model: 2 layers, context 24.
ModelConfig tiny_language_config(Architecture family);

struct TinyModel {
    TinyModel(Backend& backend, const ModelConfig& config, std::uint64_t seed = 3, DType storage = DType::F32);
    std::shared_ptr<Parameters> parameters;
    EncoderDecoder transformer;
};

// Sources of `count` random words, lengths 1 to `longest`, no special tokens.
std::vector<std::vector<std::int32_t>> random_sources(std::int64_t count, std::int64_t longest, std::int64_t vocabulary,
                                                      std::uint64_t seed);

// The sources with their ends, as a scorer reads them.
std::vector<std::vector<std::int32_t>> ended(std::vector<std::vector<std::int32_t>> sources);

// Runs the whole decoder over the whole prefix of every row at every step.
class UncachedScorer final : public Scorer {
public:
    // The sources have no ends.
    UncachedScorer(Context& ctx, const EncoderDecoder& model, const std::vector<std::vector<std::int32_t>>& sources);

    std::int64_t vocabulary() const override;
    const NextTokens& step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                           int k) override;
    const AllTokens& step_all(const std::vector<std::int32_t>& tokens,
                              const std::vector<std::int32_t>& parents) override;

private:
    // [rows, vocabulary], the newest position of each row.
    Tensor newest_logits(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents);
    struct Row {
        std::size_t sentence = 0;
        std::vector<std::int32_t> prefix;  // bos first
    };
    Context& ctx_;
    const EncoderDecoder& model_;
    std::vector<std::vector<std::int32_t>> sources_;
    std::vector<Row> rows_;
    NextTokens next_;
    AllTokens all_;
};

// A translator with a vocabulary trained on a few sentences, and random weights.
LoadedModel tiny_translator(Backend& backend, std::int64_t max_length = 64);
// Of any family; the vocabulary's size, and the mask of a masked one, replace the configuration's.
LoadedModel tiny_translator(Backend& backend, ModelConfig config, const WeightStorage& storage = {});
// Such a model as a directory on disk; the seed determines the weights.
void write_tiny_model(Backend& backend, const std::string& path, std::uint64_t seed = 3,
                      const std::string& more_text = "");

}  // namespace headscope
