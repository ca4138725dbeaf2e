// What a model is made of: everything that Table 3 varies, and what real models need. Read from and written to
// config.json.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "backend/ops/common.h"

namespace headscope {

enum class Architecture : std::uint8_t { EncoderDecoder };  // "encoder-decoder"
enum class NormPlacement : std::uint8_t { Post, Pre };      // "post" (the paper), "pre"
enum class Positions : std::uint8_t { Sinusoid, Learned };  // "sinusoid" (3.5), "learned" (Table 3, row E)
// Where sine and cosine stand: alternating (3.5); all sines, then all cosines, with the exponent k / (d/2 - 1)
// (tensor2tensor); the same halves with 2k / d (Marian).
enum class SinusoidLayout : std::uint8_t {
    Interleaved,
    HalvesMinusOne,
    Halves
};  // "interleaved", "halves_minus_one", "halves"
// Which of source embedding, target embedding and output projection are one matrix (3.4).
enum class Tying : std::uint8_t { All, TargetOutput, None };  // "all", "target_output", "none"

struct ModelConfig {
    static constexpr int kFormatVersion = 1;

    Architecture architecture = Architecture::EncoderDecoder;
    int encoder_layers = 6;
    int decoder_layers = 6;
    std::int64_t d_model = 512;
    std::int64_t d_ff = 2048;
    std::int64_t heads = 8;
    std::int64_t d_k = 64;  // free of d_model / heads
    std::int64_t d_v = 64;
    Activation activation = Activation::Relu;
    NormPlacement norm = NormPlacement::Post;
    float layer_norm_epsilon = 1e-6F;
    Positions positions = Positions::Sinusoid;
    SinusoidLayout sinusoid_layout = SinusoidLayout::Interleaved;
    std::int64_t max_length = 1024;  // rows of a learned position table; the longest input that translation accepts
    bool attention_bias = false;     // biases on q, k, v and the output projection of attention
    bool output_bias = false;        // a bias on the logits
    Tying tying = Tying::All;
    bool scale_embedding = true;  // by sqrt(d_model), 3.4
    std::int64_t source_vocabulary = 0;
    std::int64_t target_vocabulary = 0;
    std::int32_t pad_id = 0;
    std::int32_t bos_id = 1;  // what the decoder starts from
    std::int32_t eos_id = 2;
    std::int32_t unk_id = 3;

    bool operator==(const ModelConfig&) const = default;
};

// Error names the key, what was expected and what was found; unknown keys are errors too. `origin` is the file's name,
// `section` the key of the object in it, "" for the whole file.
// Absent keys keep their defaults, but d_k and d_v are then d_model / heads, and target_vocabulary is
// source_vocabulary. Whether the whole is possible is asked of check_model_config, once the vocabularies are known.
ModelConfig parse_model_config(const nlohmann::json& json, const std::string& origin, const std::string& section = "");
nlohmann::json to_json(const ModelConfig& config);
// Throws Error for impossible combinations (heads * d_k of 0, tied vocabularies of different size, ...).
void check_model_config(const ModelConfig& config, const std::string& origin);

// The closed formula, without building anything.
std::int64_t count_parameters(const ModelConfig& config);

}  // namespace headscope
