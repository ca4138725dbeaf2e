// The configuration of a model: what the paper's Table 3 varies and what published models need. Stored as config.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "autograd/context.h"
#include "backend/choices.h"

namespace headscope {

enum class Architecture : std::uint8_t { EncoderDecoder, CausalLm, MaskedLm, Encoder };
enum class InputKind : std::uint8_t { Text, Patches };
enum class Generation : std::uint8_t { LeftToRight, MaskPredict };
enum class NormPlacement : std::uint8_t { Post, Pre, Sandwich, Inside };
enum class ParallelLayers : std::uint8_t { None, OneNorm, TwoNorms };
enum class MixerKind : std::uint8_t { SelfAttention, Restricted, Convolution, Lstm, Gru };
enum class ConvolutionForm : std::uint8_t { Contiguous, Separable };
enum class AttentionScore : std::uint8_t { ScaledDotProduct, DotProduct, Additive };
enum class QueryKeyNorm : std::uint8_t { None, Head, All };
enum class Positions : std::uint8_t { Sinusoid, Learned, Index, Normalised, None };
enum class RelativePositions : std::uint8_t { None, Buckets, LayerBuckets };
enum class Rotary : std::uint8_t { None, Plain, Linear, Ntk, Yarn, Llama3, Factors };
enum class RotaryPairs : std::uint8_t { Halves, Neighbours };
enum class SinusoidLayout : std::uint8_t { Interleaved, HalvesMinusOne, Halves };
enum class EmbeddingNorm : std::uint8_t { None, Last, First };
enum class OutputTransform : std::uint8_t { None, Activation, Gelu };
enum class OutputHead : std::uint8_t { Vocabulary, Scalar, Classes, Labels, Span };
enum class ScoredState : std::uint8_t { First, Last, Mean };
enum class ScoreLayer : std::uint8_t { None, Relu, Tanh };
enum class Tying : std::uint8_t { All, TargetOutput, Embeddings, None };

// In the ids around a text: the token of the chosen source or target language, see frame_of().
inline constexpr std::int32_t kSourceLanguage = -2;
inline constexpr std::int32_t kTargetLanguage = -3;

// Sections of a model's configuration. The rows in config_rows.cpp say what each field means and which values it may
// have.
struct InputConfig {
    InputKind kind = InputKind::Text;
    std::int64_t picture = 224;
    std::int64_t patch = 16;
    std::int64_t channels = 3;
    bool class_token = false;
    std::vector<double> mean = {};
    std::vector<double> deviation = {};
    bool patches() const { return kind == InputKind::Patches; }
    bool operator==(const InputConfig&) const = default;
};

struct AttentionConfig {
    std::int64_t heads = 8;
    std::int64_t decoder_heads = 0;
    std::int64_t d_k = 64;
    std::int64_t d_v = 64;
    AttentionScore score = AttentionScore::ScaledDotProduct;
    double scale = 0.0;
    QueryKeyNorm query_key_norm = QueryKeyNorm::None;
    std::int64_t kv_heads = 0;
    bool bias = false;
    bool output_bias = true;
    bool cross = true;
    // The groups of heads that share keys and values.
    std::int64_t groups() const { return kv_heads > 0 ? kv_heads : heads; }
    // What products of queries and keys are multiplied by; 0: 1 / sqrt(d_k).
    float product_scale() const { return score == AttentionScore::DotProduct ? 1.0F : static_cast<float>(scale); }
    bool operator==(const AttentionConfig&) const = default;
};

struct ConvolutionConfig {
    std::int64_t kernel = 3;
    std::int64_t dilation = 1;
    ConvolutionForm form = ConvolutionForm::Contiguous;
    bool glu = true;
    bool operator==(const ConvolutionConfig&) const = default;
};

struct MixerConfig {
    MixerKind encoder = MixerKind::SelfAttention;
    MixerKind decoder = MixerKind::SelfAttention;
    std::int64_t window = 0;
    std::vector<std::int32_t> window_pattern = {};
    ConvolutionConfig convolution;
    bool bidirectional = false;
    bool operator==(const MixerConfig&) const = default;
};

struct ExpertsConfig {
    std::int64_t count = 0;
    std::int64_t per_token = 2;
    float capacity = 0.0F;
    bool operator==(const ExpertsConfig&) const = default;
};

struct FeedForwardConfig {
    std::int64_t d_ff = 2048;
    std::int64_t decoder_d_ff = 0;
    Activation activation = Activation::Relu;
    bool gate = false;
    bool bias = true;
    ExpertsConfig experts;
    bool operator==(const FeedForwardConfig&) const = default;
};

struct NormConfig {
    NormPlacement placement = NormPlacement::Post;
    NormType type = NormType::Layer;
    float epsilon = 1e-6F;
    ParallelLayers parallel = ParallelLayers::None;
    // Whether sub-layers read the norm of the residual stream, and whether their output is normalised before it is
    // added.
    bool of_inputs() const { return placement == NormPlacement::Pre || placement == NormPlacement::Sandwich; }
    bool of_outputs() const { return placement == NormPlacement::Sandwich || placement == NormPlacement::Inside; }
    // Whether a stack ends with a norm of its own.
    bool of_stack() const { return placement != NormPlacement::Post; }
    bool operator==(const NormConfig&) const = default;
};

struct RelativePositionsConfig {
    RelativePositions kind = RelativePositions::None;
    std::int64_t buckets = 32;
    std::int64_t distance = 128;
    bool operator==(const RelativePositionsConfig&) const = default;
};

struct RotaryConfig {
    Rotary kind = Rotary::None;
    double base = 10000.0;
    std::int64_t columns = 0;
    RotaryPairs pairs = RotaryPairs::Halves;
    double factor = 1.0;
    std::int64_t original_length = 2048;
    double low = 1.0;
    double high = 32.0;
    double magnitude = 1.0;
    std::vector<double> factors = {};
    std::vector<std::int32_t> pattern = {};
    double window_base = 0.0;
    bool operator==(const RotaryConfig&) const = default;
};

struct PositionsConfig {
    Positions kind = Positions::Sinusoid;
    SinusoidLayout layout = SinusoidLayout::Interleaved;
    std::int64_t first = 0;
    std::int64_t columns = 0;
    RelativePositionsConfig relative;
    RotaryConfig rotary;
    bool operator==(const PositionsConfig&) const = default;
};

struct EmbeddingConfig {
    Tying tying = Tying::All;
    bool scale = true;
    EmbeddingNorm norm = EmbeddingNorm::None;
    std::int64_t token_types = 0;
    bool operator==(const EmbeddingConfig&) const = default;
};

struct AdaptiveOutputConfig {
    std::vector<std::int32_t> cutoffs = {};
    std::int64_t factor = 4;
    bool operator==(const AdaptiveOutputConfig&) const = default;
};

struct OutputConfig {
    OutputHead head = OutputHead::Vocabulary;
    std::vector<std::string> labels = {};
    ScoredState scored = ScoredState::Last;
    ScoreLayer layer = ScoreLayer::None;
    AdaptiveOutputConfig adaptive;
    bool scale = false;
    bool bias = false;
    OutputTransform transform = OutputTransform::None;
    double temperature = 1.0;
    // Numbers that a score of a state has; 0: the model gives no scores.
    std::int64_t scores() const {
        return has_classes()                ? static_cast<std::int64_t>(labels.size())
               : head == OutputHead::Scalar ? 1
               : head == OutputHead::Span   ? 2
                                            : 0;
    }
    // Of a text: one of them, or any number.
    bool has_classes() const { return head == OutputHead::Classes || head == OutputHead::Labels; }
    bool scores_texts() const { return has_classes() || head == OutputHead::Scalar; }
    bool operator==(const OutputConfig&) const = default;
};

// The ids with a meaning of their own and what stands around texts.
struct FrameConfig {
    std::int32_t pad_id = 0;
    std::int32_t bos_id = 1;
    std::int32_t eos_id = 2;
    std::int32_t unk_id = 3;
    std::int32_t mask_id = -1;
    std::vector<std::int32_t> source_begin = {};  // this and the next two: also kSourceLanguage and kTargetLanguage
    std::vector<std::int32_t> source_end = {2};
    std::vector<std::int32_t> target_begin = {};
    std::vector<std::int32_t> between = {2};
    std::map<std::string, std::int32_t> languages = {};
    std::vector<std::int32_t> suppressed_ids = {};
    bool operator==(const FrameConfig&) const = default;
};

// The paper's base model.
struct ModelConfig {
    static constexpr int kFormatVersion = 3;

    Architecture architecture = Architecture::EncoderDecoder;
    Generation generation = Generation::LeftToRight;
    int encoder_layers = 6;
    int decoder_layers = 6;
    std::int64_t d_model = 512;
    std::int64_t max_length = 1024;
    std::int64_t source_vocabulary = 0;
    std::int64_t target_vocabulary = 0;
    InputConfig input;
    AttentionConfig attention;
    MixerConfig mixer;
    FeedForwardConfig feed_forward;
    NormConfig norm;
    PositionsConfig positions;
    EmbeddingConfig embedding;
    OutputConfig output;
    FrameConfig frame;

    bool adaptive() const { return !output.adaptive.cutoffs.empty(); }
    // Columns of the residual stream that hold the embedding; the others hold the position.
    std::int64_t embedding_columns() const { return d_model - positions.columns; }
    // Columns of a position, whether it is added or has its own.
    std::int64_t position_width() const { return positions.columns > 0 ? positions.columns : d_model; }
    bool operator==(const ModelConfig&) const = default;
};

bool has_encoder(const ModelConfig& config);
bool has_decoder(const ModelConfig& config);
// The configuration as the stack that attends this way reads it: d_ff, heads, d_k and d_v are its own.
ModelConfig of_stack(ModelConfig config, AttentionKind kind);
// "8", or "8 and 4" if the decoder has its own number.
std::string both_stacks(std::int64_t own, std::int64_t of_decoder);
// What mixes positions in the stack whose self-attention would be of this kind.
MixerKind mixer_of(const ModelConfig& config, AttentionKind self);
// Whether the positions of this stack's self-attention read later ones and know how long their text is.
bool reads_whole(const ModelConfig& config, AttentionKind self);
// Whether the layers of a stack, or its cross-attention, have attention weights.
bool attends(const ModelConfig& config, AttentionKind kind);

// Reads the keys of docs/model-directory.md, in sections or with dots ("norm.epsilon"), and their names in versions 1
// and 2 of the format. Throws Error, naming file and key, for unknown keys and values that are not accepted. `origin`
// is the name of the file, `section` the key of the object within it, "" for the whole file. Absent keys have their
// defaults. Call check_model_config() once the sizes of the vocabularies are known.
ModelConfig parse_model_config(const nlohmann::json& json, const std::string& origin, const std::string& section = "");
// The keys that parse_model_config() would read, under their names of today and without sections: {"norm.epsilon":
// 1e-5}.
nlohmann::json flat_model_keys(const nlohmann::json& json, const std::string& origin, const std::string& section = "");
// In sections, without the keys that have no meaning for this configuration.
nlohmann::json to_json(const ModelConfig& config);
// All keys, without sections.
nlohmann::json flat_model_keys(const ModelConfig& config);
// Throws Error for values out of range and impossible combinations, such as tied vocabularies of different sizes.
void check_model_config(const ModelConfig& config, const std::string& origin);
// The table of keys in docs/model-directory.md.
std::string table_of_model_fields();
// The number of parameters, without memory for any.
std::int64_t count_parameters(const ModelConfig& config);

}  // namespace headscope
