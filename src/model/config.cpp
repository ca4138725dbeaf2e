// The table of configuration keys; parsing and writing.
#include "model/config.h"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/config_fields.h"
#include "model/config_checks.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

using Config = ModelConfig;

// The largest side of a matrix: products of two sides fit the 32-bit indices of shaders.
constexpr std::int64_t kMaxSide = 1 << 20;
constexpr std::int64_t kMaxVocabulary = 1 << 24;
constexpr std::int64_t kMaxExperts = 1024;
constexpr std::int64_t kMaxCounter = 65535;  // the dropout counter has 16 bits each for head and position

const std::vector<std::pair<const char*, std::int32_t>> kLanguageWords = {{"source_language", kSourceLanguage},
                                                                          {"target_language", kTargetLanguage}};

// The choices of "encoder_mixer" and "decoder_mixer".
const std::vector<std::pair<const char*, MixerKind>> kMixers = {{"self_attention", MixerKind::SelfAttention},
                                                                {"restricted", MixerKind::Restricted},
                                                                {"convolution", MixerKind::Convolution},
                                                                {"lstm", MixerKind::Lstm},
                                                                {"gru", MixerKind::Gru}};

std::int64_t head_size(ConfigReader& reader, const Config& config) {
    if (config.d_model % config.attention.heads != 0) {
        reader.fail("heads",
                    fmt::format("({}) does not fit: d_model {} is not a multiple of heads {}; change one, or give "
                                "\"d_k\" and \"d_v\"",
                                config.attention.heads, config.d_model, config.attention.heads));
    }
    return config.d_model / config.attention.heads;
}

std::vector<std::pair<const char*, Architecture>> family_keys() {
    std::vector<std::pair<const char*, Architecture>> keys;
    for (const FamilyTraits& family : families()) {
        keys.emplace_back(family.key, family.architecture);
    }
    return keys;
}

const ConfigFields<Config>& fields() {
    static const ConfigFields<Config> table = {
        choice_field("architecture", &Config::architecture, family_keys(),
                     "what translates (the paper's), completes (GPT's) or fills in (BERT's)"),
        choice_field(
            "generation", &Config::generation,
            {{"left_to_right", Generation::LeftToRight}, {"mask_predict", Generation::MaskPredict}},
            "how an `encoder-decoder` writes: piece by piece, or all pieces at once and the least certain ones "
            "again (Ghazvininejad et al., 2019)"),
        derived_field(
            integer_field("encoder_layers", &Config::encoder_layers, 0, 1024, "N of the encoder (3.1), 0 without one"),
            "6, `causal-lm` 0",
            [](ConfigReader&, Config& config) { config.encoder_layers = has_encoder(config) ? 6 : 0; }),
        derived_field(
            integer_field("decoder_layers", &Config::decoder_layers, 0, 1024, "N of the decoder (3.1), 0 without one"),
            "6, `masked-lm` 0",
            [](ConfigReader&, Config& config) { config.decoder_layers = has_decoder(config) ? 6 : 0; }),
        choice_field("encoder_mixer", at(&Config::mixer, &MixerConfig::encoder), kMixers,
                     "what mixes positions in the first sub-layer of each layer of the encoder; `\"restricted\"` is "
                     "self-attention to neighbours (section 4), `\"convolution\"` reads them with fixed weights "
                     "(ConvS2S), `\"lstm\"` and `\"gru\"` are recurrent layers"),
        choice_field("decoder_mixer", at(&Config::mixer, &MixerConfig::decoder), kMixers, "the same of the decoder"),
        integer_field("attention_window", at(&Config::mixer, &MixerConfig::window), 0, kMaxSide,
                      "r of `\"restricted\"`: a query reads the keys that are less than r positions away, itself among "
                      "them, so in a decoder the last r; needed with that mixer, otherwise 0"),
        integer_field(
            "convolution_kernel", at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::kernel), 1,
            kMaxCounter,
            "k: how many positions a convolution reads, the same number on either side of each, so that it is "
            "odd, or in a decoder itself and those before it"),
        integer_field("convolution_dilation",
                      at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::dilation), 1, kMaxCounter,
                      "layer i (from 0) reads every dilation^i-th position (WaveNet)"),
        choice_field("convolution_form", at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::form),
                     {{"contiguous", ConvolutionForm::Contiguous}, {"separable", ConvolutionForm::Separable}},
                     "one matrix for all k neighbours, or `\"separable\"`: k weights for each channel, then a matrix"),
        boolean_field("convolution_glu", at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::glu),
                      "a gated linear unit after the convolution, as in ConvS2S, else the activation"),
        boolean_field("bidirectional", at(&Config::mixer, &MixerConfig::bidirectional),
                      "recurrent layers of the encoder read in both directions, each with d_model / 2 hidden units"),
        boolean_field("cross_attention", at(&Config::attention, &AttentionConfig::cross),
                      "decoder layers attend to the source; `false`: they start with the last states of the encoder's "
                      "recurrent layers and get nothing else (Sutskever et al., 2014)"),
        integer_field("d_model", &Config::d_model, 1, kMaxSide,
                      "width of the residual stream; must be even with sinusoids"),
        integer_field("d_ff", at(&Config::feed_forward, &FeedForwardConfig::d_ff), 1, kMaxSide,
                      "inner width of the feed-forward (3.3)"),
        integer_field("decoder_d_ff", at(&Config::feed_forward, &FeedForwardConfig::decoder_d_ff), 0, kMaxSide,
                      "that of the decoder; 0: the same"),
        integer_field("heads", at(&Config::attention, &AttentionConfig::heads), 1, kMaxCounter,
                      "h (3.2.2), the same in all attentions unless `decoder_heads` differs"),
        integer_field("decoder_heads", at(&Config::attention, &AttentionConfig::decoder_heads), 0, kMaxCounter,
                      "h of the decoder's attentions, which split as many columns: its d_k is heads d_k / "
                      "decoder_heads, its d_v likewise; 0: the same"),
        derived_field(integer_field("d_k", at(&Config::attention, &AttentionConfig::d_k), 1, kMaxSide,
                                    "dimension of a head's queries and keys"),
                      "d_model / heads",
                      [](ConfigReader& reader, Config& config) { config.attention.d_k = head_size(reader, config); }),
        derived_field(integer_field("d_v", at(&Config::attention, &AttentionConfig::d_v), 1, kMaxSide,
                                    "dimension of a head's values"),
                      "d_model / heads",
                      [](ConfigReader& reader, Config& config) { config.attention.d_v = head_size(reader, config); }),
        choice_field("activation", at(&Config::feed_forward, &FeedForwardConfig::activation),
                     {{"relu", Activation::Relu},
                      {"gelu", Activation::Gelu},
                      {"gelu_tanh", Activation::GeluTanh},
                      {"gelu_sigmoid", Activation::GeluSigmoid},
                      {"swish", Activation::Swish}},
                     "of the feed-forward; `\"gelu\"` is the exact one, `\"gelu_tanh\"` is GPT-2's, "
                     "`\"gelu_sigmoid\"` (CLIP's quick_gelu) is x sigmoid(1.702 x), `\"swish\"` is x sigmoid(x)"),
        choice_field("norm", at(&Config::norm, &NormConfig::placement),
                     {{"post", NormPlacement::Post}, {"pre", NormPlacement::Pre}},
                     "LayerNorm(x + f(x)), as in 3.1; `\"pre\"`: x + f(LayerNorm(x)), and a norm after each stack"),
        choice_field(
            "norm_type", at(&Config::norm, &NormConfig::type),
            {{"layer", NormType::Layer}, {"rms", NormType::Rms}, {"batch", NormType::Batch}, {"none", NormType::None}},
            "`\"rms\"` divides by the root mean square, without mean and bias, as in T5 and Llama; `\"batch\"` "
            "normalises each column over the tokens of a batch, after training by running averages; `\"none\"`: "
            "no norms"),
        number_field("layer_norm_epsilon", at(&Config::norm, &NormConfig::epsilon), 1e-15, 1.0,
                     "added to the variance or mean square"),
        choice_field("positions", at(&Config::positions, &PositionsConfig::kind),
                     {{"sinusoid", Positions::Sinusoid},
                      {"learned", Positions::Learned},
                      {"index", Positions::Index},
                      {"normalised", Positions::Normalised},
                      {"none", Positions::None}},
                     "what is added to the embeddings: sinusoids (3.5), learned vectors (Table 3, row E), the "
                     "position's number in every column, the same divided so that a text's last is 1 (in a decoder, "
                     "which does not know the length, position `max_length` - 1), or nothing"),
        choice_field("sinusoid_layout", at(&Config::positions, &PositionsConfig::layout),
                     {{"interleaved", SinusoidLayout::Interleaved},
                      {"halves_minus_one", SinusoidLayout::HalvesMinusOne},
                      {"halves", SinusoidLayout::Halves}},
                     "with k = 0 .. d/2-1: sine in column 2k, cosine in 2k+1, wavelength 10000^(2k/d) (3.5); "
                     "`\"halves\"` (Hugging Face's MarianMT): sines in the first half, cosines in the second; "
                     "`\"halves_minus_one\"` (tensor2tensor, Marian, fairseq): halves, wavelength 10000^(k/(d/2-1))"),
        integer_field("first_position", at(&Config::positions, &PositionsConfig::first), 0, 1024,
                      "the number of a text's first position in sinusoids; CTranslate2's is 1, fairseq's 2"),
        choice_field("position_combination", at(&Config::positions, &PositionsConfig::combination),
                     {{"add", PositionCombination::Add}, {"concatenate", PositionCombination::Concatenate}},
                     "`\"concatenate\"`: positions have columns of their own behind those of the embedding, which has "
                     "that many fewer"),
        derived_field(integer_field("position_columns", at(&Config::positions, &PositionsConfig::columns), 0, kMaxSide,
                                    "columns of concatenated positions; must be even with sinusoids"),
                      "0, `concatenate` d_model / 2",
                      [](ConfigReader&, Config& config) {
                          const bool own = config.positions.combination == PositionCombination::Concatenate;
                          config.positions.columns = own ? config.d_model / 2 : 0;
                      }),
        choice_field(
            "relative_positions", at(&Config::positions, &PositionsConfig::relative, &RelativePositionsConfig::kind),
            {{"none", RelativePositions::None},
             {"buckets", RelativePositions::Buckets},
             {"layer_buckets", RelativePositions::LayerBuckets}},
            "`\"buckets\"`: each head adds a learned number to the scores of self-attention, one for each bucket "
            "of distances between query and key (T5); `\"layer_buckets\"`: each layer has its own numbers (UMT5)"),
        integer_field("relative_buckets",
                      at(&Config::positions, &PositionsConfig::relative, &RelativePositionsConfig::buckets), 4,
                      kMaxCounter, "number of buckets; half of them are for keys after the query, except in a decoder"),
        integer_field("relative_distance",
                      at(&Config::positions, &PositionsConfig::relative, &RelativePositionsConfig::distance), 3,
                      kMaxCounter, "all distances from here on are in the last bucket"),
        integer_field("max_length", &Config::max_length, 1, kMaxCounter,
                      "rows of a learned position table; the longest input that translation accepts"),
        choice_field(
            "attention_score", at(&Config::attention, &AttentionConfig::score),
            {{"dot_product", AttentionScore::DotProduct}, {"additive", AttentionScore::Additive}},
            "how well a query fits a key (3.2.1): their product, or v tanh(q + k) with a vector v of each head "
            "(Bahdanau et al., 2015)"),
        boolean_field("scale_attention", at(&Config::attention, &AttentionConfig::scale),
                      "products of queries and keys divided by sqrt(d_k) (3.2.1); not in T5"),
        boolean_field("attention_bias", at(&Config::attention, &AttentionConfig::bias),
                      "biases on queries, keys, values and the output of each attention"),
        boolean_field("feed_forward_gate", at(&Config::feed_forward, &FeedForwardConfig::gate),
                      "the feed-forward is W2 (f(Wg x) * (W1 x)) with f the activation (T5 v1.1)"),
        boolean_field("feed_forward_bias", at(&Config::feed_forward, &FeedForwardConfig::bias),
                      "biases of the feed-forward's layers"),
        integer_field("experts", at(&Config::feed_forward, &FeedForwardConfig::experts, &ExpertsConfig::count), 0,
                      kMaxExperts,
                      "feed-forward parts of a layer of which a router chooses for each token (Shazeer et al., 2017), "
                      "at least 2; 0: one part and no router"),
        integer_field("experts_per_token",
                      at(&Config::feed_forward, &FeedForwardConfig::experts, &ExpertsConfig::per_token), 1, kMaxExperts,
                      "how many of its experts a token goes to"),
        number_field("expert_capacity",
                     at(&Config::feed_forward, &FeedForwardConfig::experts, &ExpertsConfig::capacity), 0.0, kMaxExperts,
                     "in training passes an expert takes at most this factor times its even share of the positions; "
                     "what finds it full is dropped; 0: nothing is"),
        choice_field("output_layer", at(&Config::output, &OutputConfig::layer),
                     {{"full", OutputLayer::Full}, {"adaptive", OutputLayer::Adaptive}},
                     "one softmax over all pieces (3.4), or an adaptive one (Grave et al., 2017): over the most "
                     "frequent pieces and the clusters of the others, and in each cluster"),
        ids_field("adaptive_cutoffs", at(&Config::output, &OutputConfig::adaptive, &AdaptiveOutputConfig::cutoffs),
                  kMaxVocabulary - 1, {},
                  "the first id of each cluster of `\"adaptive\"`, ascending; ids should be in order of frequency"),
        integer_field("adaptive_factor", at(&Config::output, &OutputConfig::adaptive, &AdaptiveOutputConfig::factor), 1,
                      kMaxSide, "the states for the i-th cluster are projected to d_model / factor^i numbers"),
        boolean_field("output_bias", at(&Config::output, &OutputConfig::bias), "a bias on the logits"),
        boolean_field("output_transform", at(&Config::output, &OutputConfig::transform),
                      "a layer, the activation and a norm before the logits (BERT's head)"),
        boolean_field("gelu_transform", at(&Config::output, &OutputConfig::gelu_transform),
                      "that layer has `\"gelu\"`, whatever the activation is (RoBERTa)"),
        boolean_field("embedding_norm", at(&Config::embedding, &EmbeddingConfig::norm),
                      "a norm after the embeddings (BERT)"),
        boolean_field("embedding_norm_first", at(&Config::embedding, &EmbeddingConfig::norm_first),
                      "in the decoder it comes before positions are added, of embeddings that are not scaled "
                      "(BlenderbotSmall)"),
        integer_field(
            "token_types", at(&Config::embedding, &EmbeddingConfig::token_types), 0, kMaxCounter,
            "segments of a text that `masked-lm` distinguishes (BERT: 2), each with a learned vector; 0: none"),
        choice_field("tying", at(&Config::embedding, &EmbeddingConfig::tying),
                     {{"all", Tying::All},
                      {"target_output", Tying::TargetOutput},
                      {"embeddings", Tying::Embeddings},
                      {"none", Tying::None}},
                     "one matrix for source embedding, target embedding and output (3.4); `\"target_output\"`: one for "
                     "the last two; `\"embeddings\"`: one for the first two"),
        boolean_field("scale_embedding", at(&Config::embedding, &EmbeddingConfig::scale),
                      "embeddings times sqrt(d_model) (3.4)"),
        boolean_field("scale_output", at(&Config::output, &OutputConfig::scale),
                      "the last hidden states divided by sqrt(d_model) before the logits (T5)"),
        derived_field(integer_field("source_vocabulary", &Config::source_vocabulary, 1, kMaxVocabulary,
                                    "pieces of the source's SentencePiece model"),
                      "-", {}),
        derived_field(
            integer_field("target_vocabulary", &Config::target_vocabulary, 1, kMaxVocabulary, "pieces of the target's"),
            "source_vocabulary",
            [](ConfigReader&, Config& config) { config.target_vocabulary = config.source_vocabulary; }),
        integer_field("pad_id", at(&Config::frame, &FrameConfig::pad_id), -1, kMaxVocabulary - 1,
                      "the target's padding, which is never written; -1: none"),
        integer_field(
            "bos_id",
            at(&Config::frame, &FrameConfig::bos_id), -1, kMaxVocabulary - 1,
            "what the decoder starts from; may be the pad (Marian) or the end (fairseq); -1: a zero vector, or "
            "in a `causal-lm` nothing: its texts start with their first piece"),
        integer_field("eos_id", at(&Config::frame, &FrameConfig::eos_id), 0, kMaxVocabulary - 1, "the end of a target"),
        integer_field("unk_id", at(&Config::frame, &FrameConfig::unk_id), -1, kMaxVocabulary - 1,
                      "the target's unknown piece; -1: none"),
        integer_field("mask_id", at(&Config::frame, &FrameConfig::mask_id), -1, kMaxVocabulary - 1,
                      "the piece to fill in, needed by `masked-lm` and `\"mask_predict\"`; -1: none"),
        ids_field("source_begin", at(&Config::frame, &FrameConfig::source_begin), kMaxVocabulary - 1, kLanguageWords,
                  "what stands before a source's pieces; not for language models, as the next four"),
        derived_field(ids_field("source_end", at(&Config::frame, &FrameConfig::source_end), kMaxVocabulary - 1,
                                kLanguageWords, "what stands after them; may be empty (OpenNMT)"),
                      "`[eos_id]`",
                      [](ConfigReader&, Config& config) { config.frame.source_end = {config.frame.eos_id}; }),
        ids_field(
            "target_begin", at(&Config::frame, &FrameConfig::target_begin), kMaxVocabulary - 1, kLanguageWords,
            "the first tokens of every output, after `bos_id`: not chosen by the search, and no part of the text"),
        named_ids_field("languages", at(&Config::frame, &FrameConfig::languages), kMaxVocabulary - 1,
                        "the tokens that `\"source_language\"` and `\"target_language\"` may stand for"),
        ids_field("suppressed_ids", at(&Config::frame, &FrameConfig::suppressed_ids), kMaxVocabulary - 1, {},
                  "target pieces of probability 0, such as the pad of OPUS-MT; training ignores this"),
    };
    return table;
}

}  // namespace

bool has_encoder(const Config& config) {
    return config.architecture != Architecture::CausalLm;
}

bool has_decoder(const Config& config) {
    return config.architecture != Architecture::MaskedLm;
}

Config of_stack(Config config, AttentionKind kind) {
    if (kind == AttentionKind::EncoderSelf || config.architecture != Architecture::EncoderDecoder) {
        return config;
    }
    config.feed_forward.d_ff =
        config.feed_forward.decoder_d_ff > 0 ? config.feed_forward.decoder_d_ff : config.feed_forward.d_ff;
    if (config.attention.decoder_heads > 0) {
        config.attention.d_k = config.attention.d_k * config.attention.heads / config.attention.decoder_heads;
        config.attention.d_v = config.attention.d_v * config.attention.heads / config.attention.decoder_heads;
        config.attention.heads = config.attention.decoder_heads;
    }
    return config;
}

std::string both_stacks(std::int64_t own, std::int64_t of_decoder) {
    return of_decoder == 0 || of_decoder == own ? std::to_string(own) : fmt::format("{} and {}", own, of_decoder);
}

MixerKind mixer_of(const Config& config, AttentionKind self) {
    return self == AttentionKind::EncoderSelf ? config.mixer.encoder : config.mixer.decoder;
}

bool reads_whole(const Config& config, AttentionKind self) {
    return self == AttentionKind::EncoderSelf || config.generation == Generation::MaskPredict;
}

bool attends(const Config& config, AttentionKind kind) {
    if (kind == AttentionKind::Cross) {
        return config.architecture == Architecture::EncoderDecoder && config.attention.cross;
    }
    const MixerKind mixer = mixer_of(config, kind);
    const bool has_stack = kind == AttentionKind::EncoderSelf ? has_encoder(config) : has_decoder(config);
    return has_stack && (mixer == MixerKind::SelfAttention || mixer == MixerKind::Restricted);
}

Config parse_model_config(const nlohmann::json& json, const std::string& origin, const std::string& section) {
    Config config;
    ConfigReader reader(json, origin, section);
    const std::int64_t version = reader.integer("format_version", Config::kFormatVersion, 0, INT32_MAX);
    if (version < 1 || version > Config::kFormatVersion) {
        reader.fail("format_version", fmt::format("must be 1 or {}, found {}", Config::kFormatVersion, version));
    }
    read_fields(fields(), reader, config);
    if (version == 1 && config.architecture != Architecture::EncoderDecoder) {
        reader.fail("format_version", "must be 2 for this architecture, found 1");
    }
    reader.finish();
    return config;
}

nlohmann::json to_json(const Config& config) {
    nlohmann::json json = write_fields(fields(), config);
    json["format_version"] = Config::kFormatVersion;
    return json;
}

std::string table_of_model_fields() {
    return table_of_fields(fields());
}

void check_model_config(const Config& config, const std::string& origin) {
    check_fields(fields(), config, origin);
    check_combinations(config, origin);
}

}  // namespace headscope
