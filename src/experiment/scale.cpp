#include "experiment/scale.h"

#include <array>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace headscope {
namespace {

struct Scale {
    int layers;
    std::int64_t d_model, d_ff, vocabulary, tokens, steps, warmup;
};

// The paper's model, data and steps at the end. The others are for tens of thousands of sentences and for a CPU: d_k is
// d_model / 8, and all rows of Table 3 have whole sizes.
constexpr std::array<Scale, 3> kSizes{{
    {3, 128, 512, 6000, 4096, 1200, 500},
    {3, 256, 1024, 8000, 8192, 3000, 1000},
    {6, 512, 2048, 37000, 25000, 100'000, 4000},
}};

}  // namespace

nlohmann::json scale_config(std::size_t scale) {
    const Scale& s = kSizes.at(scale);
    return {
        {"model",
         {{"encoder_layers", s.layers},
          {"decoder_layers", s.layers},
          {"d_model", s.d_model},
          {"attention.heads", 8},
          {"feed_forward.d_ff", s.d_ff},
          {"norm.placement", "post"},
          {"max_length", 256}}},
        {"data", {{"train", {{"tsv", "train.tsv"}}}, {"valid", {{"tsv", "valid.tsv"}}}}},
        {"tokenizer", {{"type", "bpe"}, {"vocabulary", s.vocabulary}, {"shared", true}}},
        {"training",
         {{"steps", s.steps},
          {"source_tokens", s.tokens},
          {"target_tokens", s.tokens},
          {"length_multiple", 2},
          {"max_length", 128},
          {"warmup_steps", s.warmup},
          {"learning_rate_scale", 1.0},
          {"label_smoothing", 0.1},
          {"residual_dropout", 0.1},
          {"embedding_dropout", 0.1},
          {"validate_every", 0},
          {"checkpoint_minutes", 2},
          {"keep_last", 1},
          {"average_last", 1},
          {"report_every", 100}}},
    };
}

}  // namespace headscope
