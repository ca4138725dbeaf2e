// Models of a few hundred parameters and batches for them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/device_batch.h"
#include "model/encoder_decoder.h"
#include "model/frame_of_config.h"
#include "registry/registry.h"
#include "support/check.h"
#include "support/random.h"
#include "tests/house/open_options.h"

namespace headscope {

inline ModelConfig small_config() {
    ModelConfig config;
    config.encoder_layers = 2;
    config.decoder_layers = 1;
    config.d_model = 8;
    config.feed_forward.d_ff = 12;
    config.attention.heads = 2;
    config.attention.d_k = 4;
    config.attention.d_v = 4;
    config.source_vocabulary = 11;
    config.target_vocabulary = 11;
    config.max_length = 16;
    return config;
}

struct NamedConfig {
    std::string name;
    ModelConfig config;
};

// Every option of a configuration, one or two at a time.
inline std::vector<NamedConfig> varied_configs() {
    std::vector<NamedConfig> all{{"the paper's", small_config()}};
    const auto vary = [&](const char* name, auto change) {
        all.push_back({name, small_config()});
        change(all.back().config);
    };
    vary("pre-norm, gelu", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Pre;
        c.feed_forward.activation = Activation::Gelu;
    });
    vary("three matrices, two vocabularies", [](ModelConfig& c) {
        c.embedding.tying = Tying::None;
        c.target_vocabulary = 9;
    });
    vary("tied target, output bias", [](ModelConfig& c) {
        c.embedding.tying = Tying::TargetOutput;
        c.target_vocabulary = 13;
        c.output.bias = true;
    });
    vary("learned positions, swish", [](ModelConfig& c) {
        c.positions.kind = Positions::Learned;
        c.feed_forward.activation = Activation::Swish;
    });
    vary("the position's number", [](ModelConfig& c) {
        c.positions.kind = Positions::Index;
        c.decoder_layers = 2;
    });
    vary("positions from 0 to 1, pre-norm", [](ModelConfig& c) {
        c.positions.kind = Positions::Normalised;
        c.norm.placement = NormPlacement::Pre;
    });
    const auto concatenate = [](ModelConfig& c, Positions positions, std::int64_t columns) {
        c.positions.kind = positions;
        c.positions.columns = columns;
        c.embedding.tying = Tying::Embeddings;
    };
    vary("concatenated sinusoids", [&](ModelConfig& c) { concatenate(c, Positions::Sinusoid, 4); });
    vary("concatenated learned positions", [&](ModelConfig& c) { concatenate(c, Positions::Learned, 3); });
    vary("concatenated positions from 0 to 1", [&](ModelConfig& c) { concatenate(c, Positions::Normalised, 1); });
    vary("as T5", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Pre;
        c.norm.type = NormType::Rms;
        c.positions.kind = Positions::None;
        c.positions.relative.kind = RelativePositions::Buckets;
        c.positions.relative.buckets = 8;
        c.positions.relative.distance = 5;
        c.feed_forward.bias = false;
        c.attention.score = AttentionScore::DotProduct;
        c.embedding.scale = false;
        c.output.scale = true;
        c.decoder_layers = 2;
    });
    vary("as T5 v1.1, gate with biases, quick gelu", [](ModelConfig& c) {
        c.positions.kind = Positions::None;
        c.positions.relative.kind = RelativePositions::Buckets;
        c.positions.relative.buckets = 6;
        c.positions.relative.distance = 4;
        c.feed_forward.activation = Activation::GeluSigmoid;
        c.feed_forward.gate = true;
        c.embedding.tying = Tying::Embeddings;
    });
    vary("a wider decoder of one head", [](ModelConfig& c) {
        c.feed_forward.decoder_d_ff = 20;
        c.attention.decoder_heads = 1;
        c.attention.bias = true;
    });
    vary("as UMT5, with four heads in the decoder", [](ModelConfig& c) {
        c.positions.kind = Positions::None;
        c.positions.relative.kind = RelativePositions::LayerBuckets;
        c.positions.relative.buckets = 8;
        c.positions.relative.distance = 5;
        c.attention.decoder_heads = 4;
        c.decoder_layers = 2;
    });
    vary("embeddings normalised before positions, in the decoder", [](ModelConfig& c) {
        c.positions.kind = Positions::Learned;
        c.embedding.norm = EmbeddingNorm::First;
    });
    vary("a temperature, a bias of the logits", [](ModelConfig& c) {
        c.output.temperature = 1.5;
        c.output.bias = true;
    });
    vary("gelu by tanh", [](ModelConfig& c) { c.feed_forward.activation = Activation::GeluTanh; });
    vary("attention biases, d_v below d_k, more decoder", [](ModelConfig& c) {
        c.attention.bias = true;
        c.attention.d_k = 5;
        c.attention.d_v = 3;
        c.encoder_layers = 1;
        c.decoder_layers = 2;
    });
    vary("pre-norm, unscaled, halves", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Pre;
        c.embedding.scale = false;
        c.positions.layout = SinusoidLayout::HalvesMinusOne;
        c.attention.bias = true;
        c.attention.heads = 1;
    });
    vary("pre-norm, RMS norm", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Pre;
        c.norm.type = NormType::Rms;
    });
    vary("norms before and after sub-layers, of queries and of keys by head", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Sandwich;
        c.norm.type = NormType::Rms;
        c.attention.query_key_norm = QueryKeyNorm::Head;
        c.attention.scale = 0.4;
        c.positions.rotary.kind = Rotary::Plain;
        c.decoder_layers = 2;
    });
    vary("norms of outputs, of all queries and of all keys, four heads of two keys", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Inside;
        c.attention.query_key_norm = QueryKeyNorm::All;
        c.attention.heads = 4;
        c.attention.kv_heads = 2;
        c.attention.d_v = 3;
    });
    vary("batch norm of outputs", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Inside;
        c.norm.type = NormType::Batch;
    });
    vary("adaptive softmax of three clusters", [](ModelConfig& c) {
        c.embedding.tying = Tying::Embeddings;
        c.output.adaptive.cutoffs = {4, 7, 10};
        c.output.adaptive.factor = 2;
        c.output.scale = true;
    });
    vary("additive attention", [](ModelConfig& c) {
        c.attention.score = AttentionScore::Additive;
        c.decoder_layers = 2;
    });
    vary("restricted additive attention, by distance", [](ModelConfig& c) {
        c.attention.score = AttentionScore::Additive;
        c.mixer.encoder = MixerKind::Restricted;
        c.mixer.window = 2;
        c.positions.relative.kind = RelativePositions::Buckets;
        c.positions.relative.buckets = 8;
        c.positions.relative.distance = 5;
        c.attention.heads = 1;
        c.attention.d_k = 5;
    });
    vary("restricted attention in both stacks", [](ModelConfig& c) {
        c.mixer.encoder = c.mixer.decoder = MixerKind::Restricted;
        c.mixer.window = 2;
        c.decoder_layers = 2;
    });
    vary("restricted attention in the decoder, relative positions, d_v below d_k", [](ModelConfig& c) {
        c.mixer.decoder = MixerKind::Restricted;
        c.mixer.window = 3;
        c.positions.kind = Positions::None;
        c.positions.relative.kind = RelativePositions::Buckets;
        c.positions.relative.buckets = 6;
        c.positions.relative.distance = 4;
        c.attention.d_v = 3;
    });
    vary("rotary positions, d_v below d_k", [](ModelConfig& c) {
        c.positions.kind = Positions::None;
        c.positions.rotary.kind = Rotary::Plain;
        c.attention.d_v = 3;
        c.decoder_layers = 2;
    });
    vary("rotary positions beside others, of half the columns, relative ones, four heads in the decoder",
         [](ModelConfig& c) {
             c.positions.rotary.kind = Rotary::Linear;
             c.positions.rotary.factor = 2.0;
             c.positions.rotary.columns = 2;
             c.positions.rotary.pairs = RotaryPairs::Neighbours;
             c.positions.relative.kind = RelativePositions::Buckets;
             c.positions.relative.buckets = 6;
             c.positions.relative.distance = 4;
             c.attention.decoder_heads = 4;
         });
    vary("batch norm", [](ModelConfig& c) {
        c.norm.type = NormType::Batch;
        c.embedding.norm = EmbeddingNorm::Last;
    });
    vary("batch norm, pre-norm, convolution", [](ModelConfig& c) {
        c.norm.type = NormType::Batch;
        c.norm.placement = NormPlacement::Pre;
        c.mixer.encoder = MixerKind::Convolution;
    });
    vary("without norms", [](ModelConfig& c) { c.norm.type = NormType::None; });
    vary("without norms, pre-norm", [](ModelConfig& c) {
        c.norm.type = NormType::None;
        c.norm.placement = NormPlacement::Pre;
    });
    vary("convolutions, gated and dilated", [](ModelConfig& c) {
        c.mixer.encoder = c.mixer.decoder = MixerKind::Convolution;
        c.mixer.convolution.dilation = 2;
        c.decoder_layers = 2;
    });
    vary("separable convolutions, pre-norm", [](ModelConfig& c) {
        c.mixer.encoder = c.mixer.decoder = MixerKind::Convolution;
        c.mixer.convolution.kernel = 5;
        c.mixer.convolution.form = ConvolutionForm::Separable;
        c.norm.placement = NormPlacement::Pre;
        c.decoder_layers = 2;
    });
    vary("a convolution with an activation in the decoder", [](ModelConfig& c) {
        c.mixer.decoder = MixerKind::Convolution;
        c.mixer.convolution.kernel = 2;
        c.mixer.convolution.glu = false;
        c.feed_forward.activation = Activation::Gelu;
    });
    vary("convolutions with ReLU", [](ModelConfig& c) {
        c.mixer.encoder = c.mixer.decoder = MixerKind::Convolution;
        c.mixer.convolution.glu = false;
    });
    vary("convolutions with ReLU, pre-norm", [](ModelConfig& c) {
        c.mixer.encoder = c.mixer.decoder = MixerKind::Convolution;
        c.mixer.convolution.glu = false;
        c.norm.placement = NormPlacement::Pre;
    });
    vary("LSTM in both directions, then one, with attention", [](ModelConfig& c) {
        c.mixer.encoder = c.mixer.decoder = MixerKind::Lstm;
        c.mixer.bidirectional = true;
        c.positions.kind = Positions::None;
        c.attention.heads = 1;
        c.attention.d_k = c.attention.d_v = 8;
    });
    vary("LSTM without attention", [](ModelConfig& c) {
        c.mixer.encoder = c.mixer.decoder = MixerKind::Lstm;
        c.attention.cross = false;
        c.encoder_layers = 1;
    });
    vary("pre-norm, GRU without attention, in both directions", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Pre;
        c.mixer.encoder = c.mixer.decoder = MixerKind::Gru;
        c.mixer.bidirectional = true;
        c.attention.cross = false;
        c.decoder_layers = 2;
        c.positions.kind = Positions::None;
    });
    vary("grouped queries, four heads of two keys", [](ModelConfig& c) {
        c.attention.heads = 4;
        c.attention.kv_heads = 2;
        c.attention.bias = true;
        c.decoder_layers = 2;
    });
    vary("one head of keys, d_v below d_k, restricted, four heads in the decoder, relative positions",
         [](ModelConfig& c) {
             c.attention.kv_heads = 1;
             c.attention.decoder_heads = 4;
             c.attention.d_k = 6;
             c.mixer.decoder = MixerKind::Restricted;
             c.mixer.window = 3;
             c.positions.relative.kind = RelativePositions::Buckets;
             c.positions.relative.buckets = 6;
             c.positions.relative.distance = 4;
         });
    vary("a decoder of GRU", [](ModelConfig& c) { c.mixer.decoder = MixerKind::Gru; });
    vary("two of four experts", [](ModelConfig& c) { c.feed_forward.experts.count = 4; });
    vary("one of three experts, gated, pre-norm, no biases", [](ModelConfig& c) {
        c.feed_forward.experts.count = 3;
        c.feed_forward.experts.per_token = 1;
        c.feed_forward.gate = true;
        c.feed_forward.bias = false;
        c.feed_forward.activation = Activation::Gelu;
        c.norm.placement = NormPlacement::Pre;
    });
    return all;
}

// Language models. GPT-2 and BERT have all that differs from the paper's model.
inline std::vector<NamedConfig> language_configs() {
    std::vector<NamedConfig> all;
    const auto add = [&](const char* name, Architecture architecture, auto change) {
        ModelConfig config = small_config();
        config.architecture = architecture;
        (architecture == Architecture::CausalLm ? config.encoder_layers : config.decoder_layers) = 0;
        config.frame.mask_id = architecture == Architecture::MaskedLm ? config.frame.unk_id : -1;
        change(config);
        all.push_back({name, config});
    };
    add("causal", Architecture::CausalLm, [](ModelConfig& c) { c.attention.d_v = 3; });
    add("causal, as GPT-2", Architecture::CausalLm, [](ModelConfig& c) {
        c.decoder_layers = 2;
        c.norm.placement = NormPlacement::Pre;
        c.feed_forward.activation = Activation::Gelu;
        c.positions.kind = Positions::Learned;
        c.attention.bias = true;
        c.embedding.scale = false;
    });
    add("causal, as GPT-NeoX", Architecture::CausalLm, [](ModelConfig& c) {
        c.decoder_layers = 2;
        c.norm.placement = NormPlacement::Pre;
        c.norm.parallel = ParallelLayers::TwoNorms;
        c.positions.kind = Positions::None;
        c.positions.rotary.kind = Rotary::Plain;
        c.positions.rotary.columns = 2;
        c.attention.bias = true;
    });
    add("causal, as GPT-J, RMS norm", Architecture::CausalLm, [](ModelConfig& c) {
        c.decoder_layers = 2;
        c.norm.placement = NormPlacement::Pre;
        c.norm.type = NormType::Rms;
        c.norm.parallel = ParallelLayers::OneNorm;
        c.output.bias = true;
    });
    add("causal, without positions, gated", Architecture::CausalLm, [](ModelConfig& c) {
        c.positions.kind = Positions::None;
        c.feed_forward.gate = true;
        c.feed_forward.bias = false;
        c.feed_forward.activation = Activation::Swish;
    });
    add("causal, grouped queries", Architecture::CausalLm, [](ModelConfig& c) {
        c.decoder_layers = 2;
        c.attention.heads = 6;
        c.attention.kv_heads = 2;
    });
    add("causal, restricted attention", Architecture::CausalLm, [](ModelConfig& c) {
        c.mixer.decoder = MixerKind::Restricted;
        c.mixer.window = 3;
    });
    const auto as_llama = [](ModelConfig& c) {
        c.decoder_layers = 2;
        c.attention.heads = 4;
        c.attention.kv_heads = 2;
        c.norm.placement = NormPlacement::Pre;
        c.norm.type = NormType::Rms;
        c.feed_forward.activation = Activation::Swish;
        c.feed_forward.gate = true;
        c.feed_forward.bias = false;
        c.positions.kind = Positions::None;
        c.positions.rotary.kind = Rotary::Plain;
        c.embedding.scale = false;
        c.embedding.tying = Tying::None;
    };
    add("causal, as Llama", Architecture::CausalLm, as_llama);
    add("causal, as Qwen 2, with a window in every second layer", Architecture::CausalLm, [&](ModelConfig& c) {
        as_llama(c);
        c.decoder_layers = 3;
        c.attention.bias = true;
        c.attention.output_bias = false;
        c.mixer.decoder = MixerKind::Restricted;
        c.mixer.window = 3;
        c.mixer.window_pattern = {1, 0};
        c.positions.rotary.kind = Rotary::Llama3;
        c.positions.rotary.high = 4.0;
        c.positions.rotary.factor = 4.0;
        c.positions.rotary.original_length = 8;
        c.positions.rotary.window_base = 100.0;
    });
    add("causal, as SmolLM3, by YaRN, with a window", Architecture::CausalLm, [&](ModelConfig& c) {
        as_llama(c);
        c.decoder_layers = 3;
        c.mixer.decoder = MixerKind::Restricted;
        c.mixer.window = 3;
        c.positions.rotary.kind = Rotary::Yarn;
        c.positions.rotary.factor = 2.0;
        c.positions.rotary.original_length = 40;
        c.positions.rotary.magnitude = 1.5;
        c.positions.rotary.pattern = {1, 1, 0};
    });
    add("causal, adaptive softmax", Architecture::CausalLm, [](ModelConfig& c) {
        c.embedding.tying = Tying::None;
        c.output.adaptive.cutoffs = {6};
    });
    add("masked, adaptive softmax", Architecture::MaskedLm, [](ModelConfig& c) {
        c.embedding.tying = Tying::None;
        c.output.adaptive.cutoffs = {3, 8};
        c.output.adaptive.factor = 2;
        c.output.transform = OutputTransform::Activation;
    });
    add("masked, restricted attention", Architecture::MaskedLm, [](ModelConfig& c) {
        c.mixer.encoder = MixerKind::Restricted;
        c.mixer.window = 2;
    });
    add("causal, convolution", Architecture::CausalLm, [](ModelConfig& c) {
        c.mixer.decoder = MixerKind::Convolution;
        c.mixer.convolution.kernel = 4;
    });
    add("masked, separable convolution", Architecture::MaskedLm, [](ModelConfig& c) {
        c.mixer.encoder = MixerKind::Convolution;
        c.mixer.convolution.form = ConvolutionForm::Separable;
    });
    add("causal, LSTM", Architecture::CausalLm, [](ModelConfig& c) {
        c.mixer.decoder = MixerKind::Lstm;
        c.positions.kind = Positions::None;
    });
    add("masked, GRU in both directions", Architecture::MaskedLm, [](ModelConfig& c) {
        c.mixer.encoder = MixerKind::Gru;
        c.mixer.bidirectional = true;
    });
    add("masked, relative and learned positions", Architecture::MaskedLm, [](ModelConfig& c) {
        c.positions.kind = Positions::Learned;
        c.positions.relative.kind = RelativePositions::Buckets;
        c.positions.relative.buckets = 8;
        c.positions.relative.distance = 5;
    });
    add("masked, rotary positions with a larger base", Architecture::MaskedLm, [](ModelConfig& c) {
        c.positions.rotary.kind = Rotary::Ntk;
        c.positions.rotary.factor = 3.0;
        c.attention.score = AttentionScore::Additive;
    });
    add("masked, rotary positions by factors", Architecture::MaskedLm, [](ModelConfig& c) {
        c.positions.kind = Positions::None;
        c.positions.rotary.kind = Rotary::Factors;
        c.positions.rotary.factors = {1.0, 2.5};
    });
    add("masked, untied, no biases", Architecture::MaskedLm, [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Pre;
        c.embedding.tying = Tying::None;
        c.feed_forward.bias = false;
    });
    add("masked, concatenated positions", Architecture::MaskedLm, [](ModelConfig& c) {
        c.positions.columns = 2;
        c.embedding.tying = Tying::None;
        c.embedding.token_types = 2;
    });
    add("causal, positions from 0 to 1", Architecture::CausalLm,
        [](ModelConfig& c) { c.positions.kind = Positions::Normalised; });
    add("masked, all of two experts", Architecture::MaskedLm, [](ModelConfig& c) { c.feed_forward.experts.count = 2; });
    add("masked, relu, but gelu before the logits", Architecture::MaskedLm,
        [](ModelConfig& c) { c.output.transform = OutputTransform::Gelu; });
    add("masked, as BERT", Architecture::MaskedLm, [](ModelConfig& c) {
        c.feed_forward.activation = Activation::Gelu;
        c.positions.kind = Positions::Learned;
        c.attention.bias = true;
        c.output.bias = true;
        c.output.transform = OutputTransform::Activation;
        c.embedding.norm = EmbeddingNorm::Last;
        c.embedding.token_types = 2;
        c.embedding.scale = false;
    });
    return all;
}

// Translators that fill in masks.
inline std::vector<NamedConfig> mask_predict_configs() {
    std::vector<NamedConfig> all;
    const auto vary = [&](const char* name, auto change) {
        ModelConfig config = small_config();
        config.generation = Generation::MaskPredict;
        config.frame.mask_id = config.frame.unk_id;
        change(config);
        all.push_back({name, config});
    };
    vary("mask-predict", [](ModelConfig& c) { c.decoder_layers = 2; });
    vary("mask-predict, pre-norm, relative positions, d_v below d_k", [](ModelConfig& c) {
        c.norm.placement = NormPlacement::Pre;
        c.positions.kind = Positions::None;
        c.positions.relative.kind = RelativePositions::Buckets;
        c.positions.relative.buckets = 6;
        c.positions.relative.distance = 4;
        c.attention.d_v = 3;
    });
    // Without sinusoids all masks would be equally likely, and rounding would choose among them.
    vary("mask-predict, rotary positions beside sinusoids",
         [](ModelConfig& c) { c.positions.rotary.kind = Rotary::Plain; });
    vary("mask-predict, restricted attention, positions from 0 to 1", [](ModelConfig& c) {
        c.mixer.decoder = MixerKind::Restricted;
        c.mixer.window = 2;
        c.positions.kind = Positions::Normalised;
        c.embedding.tying = Tying::None;
        c.target_vocabulary = 9;
    });
    vary("mask-predict, a recurrent encoder, adaptive softmax", [](ModelConfig& c) {
        c.mixer.encoder = MixerKind::Gru;
        c.embedding.tying = Tying::Embeddings;
        c.output.adaptive.cutoffs = {6};
    });
    return all;
}

// Models with scores beside their logits, which have no part in the loss of text.
inline std::vector<NamedConfig> score_configs() {
    std::vector<NamedConfig> all;
    for (const NamedConfig& one : language_configs()) {
        if (one.name != "causal" && one.name != "masked, as BERT") {
            continue;
        }
        for (const OutputHead head : {OutputHead::Scalar, OutputHead::Classes, OutputHead::Span}) {
            all.push_back(one);
            OutputConfig& output = all.back().config.output;
            output.head = head;
            if (head == OutputHead::Span) {
                continue;
            }
            output.scored = head == OutputHead::Scalar ? ScoredState::First : ScoredState::Mean;
            output.layer = head == OutputHead::Scalar ? ScoreLayer::None : ScoreLayer::Tanh;
            output.labels = {"good", "bad", "neither"};
            output.labels.resize(head == OutputHead::Scalar ? 0 : 3);
        }
    }
    return all;
}

// A translator's encoder that reads pictures of 4 patches.
inline std::vector<NamedConfig> picture_configs() {
    std::vector<NamedConfig> all;
    for (const bool class_token : {false, true}) {
        ModelConfig config = small_config();
        config.input = {.kind = InputKind::Patches,
                        .picture = 4,
                        .patch = 2,
                        .channels = class_token ? 3 : 1,
                        .class_token = class_token};
        config.input.mean.assign(static_cast<std::size_t>(config.input.channels), 0.4);
        config.input.deviation.assign(static_cast<std::size_t>(config.input.channels), 0.3);
        config.source_vocabulary = config.input.channels * kChannelValues;
        config.embedding.tying = class_token ? Tying::TargetOutput : Tying::None;
        config.positions.kind = class_token ? Positions::Learned : Positions::Sinusoid;
        config.frame.source_end = {};
        all.push_back({class_token ? "pictures with a class token" : "grey pictures", config});
    }
    return all;
}

// Translation and language models.
inline std::vector<NamedConfig> all_configs() {
    std::vector<NamedConfig> all = varied_configs();
    for (const auto& more : {language_configs(), mask_predict_configs()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

inline std::vector<std::int32_t> random_pieces(Random& random, std::int64_t length, std::int64_t vocabulary) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < length; ++i) {
        ids.push_back(static_cast<std::int32_t>(4 + random.below(static_cast<std::uint64_t>(vocabulary - 4))));
    }
    return ids;
}

// The ids of a picture's pixels.
inline std::vector<std::int32_t> random_picture(Random& random, const ModelConfig& config) {
    const PatchShape shape = patches_of(config)->shape;
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < shape.patches() * shape.values(); ++i) {
        const auto channel = static_cast<std::int32_t>(i % shape.values() / (shape.patch * shape.patch));
        ids.push_back(kChannelValues * channel + static_cast<std::int32_t>(random.below(kChannelValues)));
    }
    return ids;
}

// Sentence i has 1 + (i * 3) % 6 source pieces or is a picture, and its target has the length of the next source.
inline std::vector<Example> random_pairs(const ModelConfig& config, std::int64_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<Example> pairs;
    for (std::int64_t i = 0; i < count; ++i) {
        pairs.push_back({config.input.patches() ? random_picture(random, config)
                                                : random_pieces(random, 1 + i * 3 % 6, config.source_vocabulary),
                         random_pieces(random, 1 + (i + 1) * 3 % 6, config.target_vocabulary)});
    }
    return pairs;
}

// Pairs as a language model's examples: source and target in one sequence, of which few tokens are to be predicted
// unless the model is causal.
inline std::vector<Example> language_examples(const ModelConfig& config, const std::vector<Example>& pairs) {
    std::vector<Example> examples;
    for (const Example& pair : pairs) {
        std::vector<std::int32_t> all{config.frame.bos_id};
        all.insert(all.end(), pair.source.begin(), pair.source.end());
        all.insert(all.end(), pair.target.begin(), pair.target.end());
        all.push_back(config.frame.eos_id);
        Example example;
        example.target.assign(all.begin(), all.end() - 1);
        example.labels.assign(all.begin() + 1, all.end());
        if (config.architecture == Architecture::MaskedLm) {
            for (std::size_t i = 0; i < example.labels.size(); ++i) {
                example.labels[i] = i % 3 == 1 ? example.target[i] : kNoTarget;
                example.target[i] = i % 3 == 1 ? config.frame.unk_id : example.target[i];
            }
        }
        if (config.embedding.token_types > 0) {  // 0 up to the source's end, 1 in the target
            example.types.assign(pair.source.size() + 1, 0);
            example.types.resize(example.target.size(), 1);
        }
        examples.push_back(std::move(example));
    }
    return examples;
}

// Pairs of which every second piece of the target, from the first on, is masked.
inline std::vector<Example> masked_pairs(const ModelConfig& config, std::vector<Example> pairs) {
    for (Example& pair : pairs) {
        pair.labels.assign(pair.target.size(), kNoTarget);
        for (std::size_t i = 0; i < pair.target.size(); i += 2) {
            pair.labels[i] = std::exchange(pair.target[i], config.frame.mask_id);
        }
    }
    return pairs;
}

struct SmallModel {
    SmallModel(const ModelConfig& wanted, const std::string& device, bool with_gradients = true,
               const WeightStorage& storage = {})
        : config(wanted),
          backend(open_device(device, environment_options())),
          parameters(*backend, config, with_gradients, storage),
          model(make_model(config, parameters)) {
        parameters.initialise(3);
        // Biases and gains other than 0 and 1, so that using the wrong one changes results.
        Random random(4);
        for (const ParameterSpec& spec : parameters.table()) {
            if (spec.shape.rank() == 1) {
                std::vector<double> values = to_host<double>(*backend, parameters.at(spec.name).value());
                for (double& value : values) {
                    value += static_cast<double>(random.below(1000)) / 2000.0 - 0.25;
                }
                from_host(*backend, parameters.at(spec.name).value(), values);
            }
        }
        parameters.refresh_working();
    }

    DeviceBatch batch(const std::vector<Example>& pairs, std::int32_t first_ordinal = 0) {
        const std::vector<Example> examples = config.generation == Generation::MaskPredict ? masked_pairs(config, pairs)
                                              : config.architecture == Architecture::EncoderDecoder
                                                  ? pairs
                                                  : language_examples(config, pairs);
        return upload(*backend, make_batch(std::span<const Example>(examples), frame_of(config), first_ordinal));
    }

    // The model as what it must be: an encoder-decoder.
    const EncoderDecoder& transformer() const { return dynamic_cast<const EncoderDecoder&>(*model); }

    std::vector<double> host(const Tensor& tensor) { return to_host<double>(*backend, tensor); }

    // The loss of one batch; with `gradients` also backward.
    double loss(const DeviceBatch& on, const LossOptions& options, const Regularisation& rates, bool gradients) {
        Tape tape;
        Context ctx{*backend, gradients ? &tape : nullptr};
        ctx.regularisation = rates;
        ctx.regularisation.ordinals = on.ordinals;
        return host(model->loss(ctx, on, options).loss)[0];
    }

    ModelConfig config;
    std::unique_ptr<Backend> backend;
    Parameters parameters;
    std::unique_ptr<Model> model;
};

inline Regularisation all_dropouts(Backend& backend) {
    Regularisation rates{.residual = 0.2F, .embedding = 0.1F, .attention = 0.3F, .activation = 0.25F, .seed = 5};
    rates.step = make_from_host(backend, {1}, DType::I32, std::vector<std::int32_t>{9});
    return rates;
}

}  // namespace headscope
