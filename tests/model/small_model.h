// Models of a few hundred parameters and batches for them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/device_batch.h"
#include "model/transformer.h"
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
    config.d_ff = 12;
    config.heads = 2;
    config.d_k = 4;
    config.d_v = 4;
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
        c.norm = NormPlacement::Pre;
        c.activation = Activation::Gelu;
    });
    vary("three matrices, two vocabularies", [](ModelConfig& c) {
        c.tying = Tying::None;
        c.target_vocabulary = 9;
    });
    vary("tied target, output bias", [](ModelConfig& c) {
        c.tying = Tying::TargetOutput;
        c.target_vocabulary = 13;
        c.output_bias = true;
    });
    vary("learned positions, swish", [](ModelConfig& c) {
        c.positions = Positions::Learned;
        c.activation = Activation::Swish;
    });
    vary("gelu by tanh", [](ModelConfig& c) { c.activation = Activation::GeluTanh; });
    vary("attention biases, d_v below d_k, more decoder", [](ModelConfig& c) {
        c.attention_bias = true;
        c.d_k = 5;
        c.d_v = 3;
        c.encoder_layers = 1;
        c.decoder_layers = 2;
    });
    vary("pre-norm, unscaled, halves", [](ModelConfig& c) {
        c.norm = NormPlacement::Pre;
        c.scale_embedding = false;
        c.sinusoid_layout = SinusoidLayout::HalvesMinusOne;
        c.attention_bias = true;
        c.heads = 1;
    });
    return all;
}

inline std::vector<std::int32_t> random_pieces(Random& random, std::int64_t length, std::int64_t vocabulary) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < length; ++i) {
        ids.push_back(static_cast<std::int32_t>(4 + random.below(static_cast<std::uint64_t>(vocabulary - 4))));
    }
    return ids;
}

// Sentence i has 1 + (i * 3) % 6 source pieces, and its target has the length of the next source.
inline std::vector<Pair> random_pairs(const ModelConfig& config, std::int64_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<Pair> pairs;
    for (std::int64_t i = 0; i < count; ++i) {
        pairs.push_back({random_pieces(random, 1 + i * 3 % 6, config.source_vocabulary),
                         random_pieces(random, 1 + (i + 1) * 3 % 6, config.target_vocabulary)});
    }
    return pairs;
}

inline SpecialIds special_ids(const ModelConfig& config) {
    return {config.pad_id, config.bos_id, config.eos_id, config.unk_id};
}

struct SmallModel {
    SmallModel(const ModelConfig& model, const std::string& device, bool with_gradients = true,
               DType storage = DType::F32)
        : config(model),
          backend(open_device(device, environment_options())),
          parameters(*backend, config, with_gradients, storage),
          transformer(config, parameters) {
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
    }

    DeviceBatch batch(const std::vector<Pair>& pairs, std::int32_t first_ordinal = 0) {
        return upload(*backend, make_batch(std::span<const Pair>(pairs), special_ids(config), first_ordinal));
    }

    std::vector<double> host(const Tensor& tensor) { return to_host<double>(*backend, tensor); }

    // The loss of one batch; with `gradients` also backward.
    double loss(const DeviceBatch& on, const LossOptions& options, const Regularisation& rates, bool gradients) {
        Tape tape;
        Context ctx{*backend, gradients ? &tape : nullptr};
        ctx.regularisation = rates;
        ctx.regularisation.ordinals = on.ordinals;
        return host(transformer.loss(ctx, on, options).loss)[0];
    }

    ModelConfig config;
    std::unique_ptr<Backend> backend;
    Parameters parameters;
    Transformer transformer;
};

inline Regularisation all_dropouts(Backend& backend) {
    Regularisation rates{.residual = 0.2F, .embedding = 0.1F, .attention = 0.3F, .activation = 0.25F, .seed = 5};
    rates.step = make_from_host(backend, {1}, DType::I32, std::vector<std::int32_t>{9});
    return rates;
}

}  // namespace headscope
