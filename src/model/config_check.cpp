// What a configuration must fulfil, and how many parameters it has.
#include <cmath>

#include <fmt/format.h>

#include "model/config.h"
#include "support/check.h"

namespace headscope {

namespace {

// No side of a matrix beyond this: products of two of them still fit the 32-bit indices of shaders.
constexpr std::int64_t kMaxSide = 1 << 20;
constexpr std::int64_t kMaxMatrix = std::int64_t{1} << 31;

void in_range(const std::string& origin, const char* key, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value < low || value > high) {
        throw Error(fmt::format("{}: \"{}\" is to be from {} to {}, found {}", origin, key, low, high, value));
    }
}

void check_matrix(const std::string& origin, const char* what, std::int64_t rows, std::int64_t columns) {
    if (rows * columns >= kMaxMatrix) {
        throw Error(fmt::format("{}: the matrix {} would have {} x {} entries; fewer than {} are supported", origin,
                                what, rows, columns, kMaxMatrix));
    }
}

void check_sizes(const ModelConfig& config, const std::string& origin) {
    in_range(origin, "encoder_layers", config.encoder_layers, 1, 1024);
    in_range(origin, "decoder_layers", config.decoder_layers, 1, 1024);
    in_range(origin, "d_model", config.d_model, 1, kMaxSide);
    in_range(origin, "d_ff", config.d_ff, 1, kMaxSide);
    in_range(origin, "heads", config.heads, 1, 65535);  // the dropout counter keeps the head in 16 bits
    in_range(origin, "d_k", config.d_k, 1, kMaxSide);
    in_range(origin, "d_v", config.d_v, 1, kMaxSide);
    in_range(origin, "max_length", config.max_length, 1, 65535);  // as does the position
    in_range(origin, "source_vocabulary", config.source_vocabulary, 1, std::int64_t{1} << 24);
    in_range(origin, "target_vocabulary", config.target_vocabulary, 1, std::int64_t{1} << 24);
    check_matrix(origin, "of q, k and v", config.heads * (2 * config.d_k + config.d_v), config.d_model);
    check_matrix(origin, "of the feed-forward", config.d_ff, config.d_model);
    check_matrix(origin, "of the source embedding", config.source_vocabulary, config.d_model);
    check_matrix(origin, "of the target embedding", config.target_vocabulary, config.d_model);
}

void check_positions(const ModelConfig& config, const std::string& origin) {
    if (config.positions != Positions::Sinusoid) {
        return;
    }
    if (config.d_model % 2 != 0) {
        throw Error(fmt::format("{}: \"d_model\" is to be even, for sinusoids come in pairs, found {}", origin,
                                config.d_model));
    }
    if (config.sinusoid_layout == SinusoidLayout::HalvesMinusOne && config.d_model < 4) {
        throw Error(fmt::format("{}: \"d_model\" is to be at least 4 with the layout \"halves_minus_one\", found {}",
                                origin, config.d_model));
    }
}

}  // namespace

void check_model_config(const ModelConfig& config, const std::string& origin) {
    check_sizes(config, origin);
    check_positions(config, origin);
    if (!(config.layer_norm_epsilon > 0.0F) || !std::isfinite(config.layer_norm_epsilon)) {
        throw Error(
            fmt::format("{}: \"layer_norm_epsilon\" is to be above 0, found {}", origin, config.layer_norm_epsilon));
    }
    if (config.activation == Activation::None) {
        throw Error(fmt::format("{}: a feed-forward without activation is one matrix; take \"relu\"", origin));
    }
    if (config.tying == Tying::All && config.source_vocabulary != config.target_vocabulary) {
        throw Error(fmt::format(
            "{}: \"tying\" is \"all\", but source_vocabulary is {} and target_vocabulary is {}; one matrix needs one "
            "shared vocabulary, else take \"target_output\" or \"none\"",
            origin, config.source_vocabulary, config.target_vocabulary));
    }
    const std::int64_t smaller = std::min(config.source_vocabulary, config.target_vocabulary);
    in_range(origin, "pad_id", config.pad_id, 0, smaller - 1);
    in_range(origin, "bos_id", config.bos_id, 0, config.target_vocabulary - 1);
    in_range(origin, "eos_id", config.eos_id, 0, smaller - 1);
    in_range(origin, "unk_id", config.unk_id, 0, smaller - 1);
    if (config.eos_id == config.pad_id || config.eos_id == config.bos_id) {
        throw Error(fmt::format("{}: \"eos_id\" {} is to differ from pad_id {} and bos_id {}", origin, config.eos_id,
                                config.pad_id, config.bos_id));
    }
}

std::int64_t count_parameters(const ModelConfig& config) {
    const std::int64_t d = config.d_model;
    const std::int64_t key = config.heads * config.d_k;
    const std::int64_t value = config.heads * config.d_v;
    const std::int64_t norm = 2 * d;
    const std::int64_t attention = 2 * d * (key + value) + (config.attention_bias ? 2 * key + value + d : 0);
    const std::int64_t feed_forward = 2 * d * config.d_ff + config.d_ff + d;
    const std::int64_t final_norms = config.norm == NormPlacement::Pre ? 2 * norm : 0;
    const std::int64_t positions = config.positions == Positions::Learned ? 2 * config.max_length * d : 0;
    const std::int64_t source = config.tying == Tying::All ? 0 : config.source_vocabulary * d;
    const std::int64_t target = (config.tying == Tying::None ? 2 : 1) * config.target_vocabulary * d;
    const std::int64_t output_bias = config.output_bias ? config.target_vocabulary : 0;
    return config.encoder_layers * (attention + feed_forward + 2 * norm) +
           config.decoder_layers * (2 * attention + feed_forward + 3 * norm) + final_norms + positions + source +
           target + output_bias;
}

}  // namespace headscope
