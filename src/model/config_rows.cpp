// The table of the model's keys.
#include "model/config_rows.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/family.h"

namespace headscope {

namespace {

using Config = ModelConfig;

constexpr std::int64_t kMaxVocabulary = 1 << 24;
constexpr std::int64_t kMaxExperts = 1024;
constexpr std::int64_t kMaxCounter = 65535;

const std::vector<std::pair<const char*, std::int32_t>> kLanguageNames = {{"source_language", kSourceLanguage},
                                                                          {"target_language", kTargetLanguage}};

// The choices of "mixer.encoder" and "mixer.decoder".
const std::vector<std::pair<const char*, MixerKind>> kMixers = {{"self_attention", MixerKind::SelfAttention},
                                                                {"restricted", MixerKind::Restricted},
                                                                {"convolution", MixerKind::Convolution},
                                                                {"lstm", MixerKind::Lstm},
                                                                {"gru", MixerKind::Gru}};

std::int64_t head_size(ConfigReader& reader, const Config& config) {
    if (config.d_model % config.attention.heads != 0) {
        reader.fail("attention.heads",
                    fmt::format("({}) does not fit: d_model {} is not a multiple of heads {}; change one, or give "
                                "\"attention.d_k\" and \"attention.d_v\"",
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

using Need = Needs<Config>;

bool is_recurrent(MixerKind kind) {
    return kind == MixerKind::Lstm || kind == MixerKind::Gru;
}

const Need kEncoder = {"`architecture` has an encoder", has_encoder};
const Need kDecoder = {"`architecture` has a decoder", has_decoder};
const Need kBothStacks = {"`architecture` is `\"encoder-decoder\"`",
                          [](const Config& c) { return has_encoder(c) && has_decoder(c); }};
const Need kConvolution = {"`mixer.encoder` or `mixer.decoder` is `\"convolution\"`", [](const Config& c) {
                               return c.mixer.encoder == MixerKind::Convolution ||
                                      c.mixer.decoder == MixerKind::Convolution;
                           }};
const Need kRecurrentEncoder = {"`mixer.encoder` is `\"lstm\"` or `\"gru\"`",
                                [](const Config& c) { return is_recurrent(c.mixer.encoder); }};
const Need kStatesFit = {
    "`mixer.encoder` and `mixer.decoder` are both `\"lstm\"` or both `\"gru\"`, with as many `encoder_layers` as "
    "`decoder_layers`",
    [](const Config& c) {
        return kBothStacks.met(c) && is_recurrent(c.mixer.encoder) && c.mixer.encoder == c.mixer.decoder &&
               c.encoder_layers == c.decoder_layers;
    }};
const Need kSinusoids = {"`positions.kind` is `\"sinusoid\"`",
                         [](const Config& c) { return c.positions.kind == Positions::Sinusoid; }};
const Need kPositions = {"`positions.kind` is not `\"none\"`",
                         [](const Config& c) { return c.positions.kind != Positions::None; }};
const Need kRelative = {"`positions.relative.kind` is not `\"none\"`",
                        [](const Config& c) { return c.positions.relative.kind != RelativePositions::None; }};
const Need kAttentionBias = {"`attention.bias` is true", [](const Config& c) { return c.attention.bias; }};
const Need kMaskedLm = {"`architecture` is `\"masked-lm\"`",
                        [](const Config& c) { return c.architecture == Architecture::MaskedLm; }};
const Need kPiecesRead = {"`input.kind` is `\"text\"`", [](const Config& c) { return !c.input.patches(); }};
const Need kPiecesWritten = {"`architecture` is not `\"encoder\"`",
                             [](const Config& c) { return c.architecture != Architecture::Encoder; }};
const Need kLeftToRight = {"`generation` is `\"left_to_right\"`",
                           [](const Config& c) { return c.generation == Generation::LeftToRight; }};
const Need kClasses = {"`output.head` is `\"classes\"` or `\"labels\"`",
                       [](const Config& c) { return c.output.has_classes(); }};
const Need kScoresTexts = {"`output.head` is `\"scalar\"`, `\"classes\"` or `\"labels\"`",
                           [](const Config& c) { return c.output.scores_texts(); }};
const Need kDotProducts = {"`attention.score` is `\"scaled_dot_product\"` or `\"dot_product\"`",
                           [](const Config& c) { return c.attention.score != AttentionScore::Additive; }};
const Need kScaledProducts = {"`attention.score` is `\"scaled_dot_product\"`",
                              [](const Config& c) { return c.attention.score == AttentionScore::ScaledDotProduct; }};
const Need kPreNorm = {"`norm.placement` is `\"pre\"`",
                       [](const Config& c) { return c.norm.placement == NormPlacement::Pre; }};
const Need kOneStack = {"`architecture` is not `\"encoder-decoder\"`",
                        [](const Config& c) { return c.architecture != Architecture::EncoderDecoder; }};
const Need kNotNormalised = {"`positions.kind` is not `\"normalised\"`",
                             [](const Config& c) { return c.positions.kind != Positions::Normalised; }};
const Need kExperts = {"`feed_forward.experts.count` is not 0",
                       [](const Config& c) { return c.feed_forward.experts.count != 0; }};
const Need kAdaptive = {"`output.adaptive.cutoffs` is not `[]`", [](const Config& c) { return c.adaptive(); }};
const Need kFull = {"`output.adaptive.cutoffs` is `[]`", [](const Config& c) { return !c.adaptive(); }};
const Need kNoBatchNorm = {"`norm.type` is not `\"batch\"`",
                           [](const Config& c) { return c.norm.type != NormType::Batch; }};
const Need kLanguageWords = {
    "`frame.source_begin`, `frame.source_end` or `frame.target_begin` contain `\"source_language\"` or "
    "`\"target_language\"`",
    [](const Config& c) {
        const auto any = [](const std::vector<std::int32_t>& ids) {
            return std::any_of(ids.begin(), ids.end(), [](std::int32_t id) { return id < 0; });
        };
        return any(c.frame.source_begin) || any(c.frame.source_end) || any(c.frame.target_begin);
    }};

// Of the layers, and of the positions that are added to their input or to their scores.
ConfigFields<Config> layer_fields() {
    return {
        choice_field("architecture", &Config::architecture, family_keys(),
                     "what translates (the paper's), completes (GPT's) or fills in (BERT's), or an encoder alone, "
                     "which gives pictures classes (ViT's)"),
        choice_field("generation", &Config::generation,
                     {{"left_to_right", Generation::LeftToRight}, {"mask_predict", Generation::MaskPredict}},
                     "how an `encoder-decoder` writes: piece by piece, or all pieces at once and the least "
                     "certain ones again (Ghazvininejad et al., 2019)")
            .only_if(kBothStacks),
        integer_field("encoder_layers", &Config::encoder_layers, 1, 1024, "N of the encoder (3.1)")
            .by_default("6, `causal-lm` 0",
                        [](ConfigReader&, Config& config) { config.encoder_layers = has_encoder(config) ? 6 : 0; })
            .only_if(kEncoder),
        integer_field("decoder_layers", &Config::decoder_layers, 1, 1024, "N of the decoder (3.1)")
            .by_default("6, `masked-lm` and `encoder` 0",
                        [](ConfigReader&, Config& config) { config.decoder_layers = has_decoder(config) ? 6 : 0; })
            .only_if(kDecoder),
        integer_field("d_model", &Config::d_model, 1, kMaxSide,
                      "width of the residual stream; must be even with sinusoids"),
        integer_field("max_length", &Config::max_length, 1, kMaxLength,
                      "rows of a learned position table; the longest input that translation accepts"),
        integer_field("source_vocabulary", &Config::source_vocabulary, 1, kMaxVocabulary,
                      "pieces of the source's SentencePiece model")
            .by_default("-", {}),
        integer_field("target_vocabulary", &Config::target_vocabulary, 1, kMaxVocabulary, "pieces of the target's")
            .by_default("source_vocabulary",
                        [](ConfigReader&, Config& config) { config.target_vocabulary = config.source_vocabulary; })
            .only_if(kBothStacks),

        choice_field("mixer.encoder", at(&Config::mixer, &MixerConfig::encoder), kMixers,
                     "what mixes positions in the first sub-layer of each layer of the encoder; "
                     "`\"restricted\"` is self-attention to neighbours (section 4), `\"convolution\"` reads them "
                     "with fixed weights (ConvS2S), `\"lstm\"` and `\"gru\"` are recurrent layers")
            .only_if(kEncoder),
        choice_field("mixer.decoder", at(&Config::mixer, &MixerConfig::decoder), kMixers, "the same of the decoder")
            .only_if(kDecoder),
        integer_field("mixer.window", at(&Config::mixer, &MixerConfig::window), 1, kMaxSide,
                      "r: a query reads the keys that are less than r positions away, itself "
                      "among them, so in a decoder the last r")
            .only_if(needs_restricted()),
        numbers_field("mixer.window_pattern", at(&Config::mixer, &MixerConfig::window_pattern), 0, 1,
                      "repeated over the layers of a stack: 1 for a layer with the window, 0 for one that reads all "
                      "positions (Gemma); `[]`: all layers have it")
            .only_if(needs_restricted()),
        integer_field("mixer.convolution.kernel",
                      at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::kernel), 1, kMaxCounter,
                      "k: how many positions a convolution reads, the same number on either side of each, so "
                      "that it is odd, or in a decoder itself and those before it")
            .only_if(kConvolution),
        integer_field("mixer.convolution.dilation",
                      at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::dilation), 1, kMaxCounter,
                      "layer i (from 0) reads every dilation^i-th position (WaveNet)")
            .only_if(kConvolution),
        choice_field("mixer.convolution.form", at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::form),
                     {{"contiguous", ConvolutionForm::Contiguous}, {"separable", ConvolutionForm::Separable}},
                     "one matrix for all k neighbours, or `\"separable\"`: k weights for each channel, then a "
                     "matrix")
            .only_if(kConvolution),
        boolean_field("mixer.convolution.glu", at(&Config::mixer, &MixerConfig::convolution, &ConvolutionConfig::glu),
                      "a gated linear unit after the convolution, as in ConvS2S, else the "
                      "activation")
            .only_if(kConvolution),
        boolean_field("mixer.bidirectional", at(&Config::mixer, &MixerConfig::bidirectional),
                      "recurrent layers of the encoder read in both directions, each with d_model / 2 hidden "
                      "units")
            .only_if(kRecurrentEncoder),

        integer_field("attention.heads", at(&Config::attention, &AttentionConfig::heads), 1, kMaxCounter,
                      "h (3.2.2), the same in all attentions unless `attention.decoder_heads` differs"),
        integer_field("attention.decoder_heads", at(&Config::attention, &AttentionConfig::decoder_heads), 0,
                      kMaxCounter,
                      "h of the decoder's attentions, which split as many columns: its d_k is heads d_k / "
                      "decoder_heads, its d_v likewise; 0: the same")
            .only_if(kBothStacks),
        integer_field("attention.d_k", at(&Config::attention, &AttentionConfig::d_k), 1, kMaxSide,
                      "dimension of a head's queries and keys")
            .by_default("d_model / heads",
                        [](ConfigReader& reader, Config& config) { config.attention.d_k = head_size(reader, config); }),
        integer_field("attention.d_v", at(&Config::attention, &AttentionConfig::d_v), 1, kMaxSide,
                      "dimension of a head's values")
            .by_default("d_model / heads",
                        [](ConfigReader& reader, Config& config) { config.attention.d_v = head_size(reader, config); }),
        choice_field("attention.score", at(&Config::attention, &AttentionConfig::score),
                     {{"scaled_dot_product", AttentionScore::ScaledDotProduct},
                      {"dot_product", AttentionScore::DotProduct},
                      {"additive", AttentionScore::Additive}},
                     "how well a query fits a key (3.2.1): their product divided by sqrt(d_k), or not (T5), or "
                     "v tanh(q + k) with a vector v of each head (Bahdanau et al., 2015)"),
        number_field("attention.scale", at(&Config::attention, &AttentionConfig::scale), 0.0, 1e3,
                     "what the product is multiplied by instead of 1 / sqrt(d_k) (Gemma 3); 0: that")
            .only_if(kScaledProducts),
        choice_field("attention.query_key_norm", at(&Config::attention, &AttentionConfig::query_key_norm),
                     {{"none", QueryKeyNorm::None}, {"head", QueryKeyNorm::Head}, {"all", QueryKeyNorm::All}},
                     "an RMS norm of the queries and one of the keys of self-attention, before rotary positions turn "
                     "them, with `norm.epsilon`: of each head by itself (Qwen 3, Gemma 3), or of all heads together "
                     "(OLMo 2)")
            .only_if(needs_all_to_attend()),
        integer_field(
            "attention.kv_heads", at(&Config::attention, &AttentionConfig::kv_heads), 0, kMaxCounter,
            "heads of keys and values, each for as many neighbouring heads of queries (grouped queries, "
            "Ainslie et al., 2023; of 1, Shazeer, 2019), which makes a cache smaller; must divide the heads of "
            "every attention; 0: h")
            .only_if(kDotProducts),
        boolean_field("attention.bias", at(&Config::attention, &AttentionConfig::bias),
                      "biases on queries, keys, values and the output of each attention"),
        boolean_field("attention.output_bias", at(&Config::attention, &AttentionConfig::output_bias),
                      "on the output, too; `false`: on queries, keys and values alone (Qwen 2)")
            .only_if(kAttentionBias),
        boolean_field("attention.cross", at(&Config::attention, &AttentionConfig::cross),
                      "decoder layers attend to the source; `false`: they start with the last states of the "
                      "encoder's recurrent layers and get nothing else (Sutskever et al., 2014)")
            .only_if(kStatesFit),

        integer_field("feed_forward.d_ff", at(&Config::feed_forward, &FeedForwardConfig::d_ff), 1, kMaxSide,
                      "inner width of the feed-forward (3.3)"),
        integer_field("feed_forward.decoder_d_ff", at(&Config::feed_forward, &FeedForwardConfig::decoder_d_ff), 0,
                      kMaxSide, "that of the decoder; 0: the same")
            .only_if(kBothStacks),
        choice_field("feed_forward.activation", at(&Config::feed_forward, &FeedForwardConfig::activation),
                     {{"relu", Activation::Relu},
                      {"gelu", Activation::Gelu},
                      {"gelu_tanh", Activation::GeluTanh},
                      {"gelu_sigmoid", Activation::GeluSigmoid},
                      {"swish", Activation::Swish}},
                     "`\"gelu\"` is the exact one, `\"gelu_tanh\"` is GPT-2's, `\"gelu_sigmoid\"` (CLIP's quick_gelu) "
                     "is x sigmoid(1.702 x), `\"swish\"` is x sigmoid(x)"),
        boolean_field("feed_forward.gate", at(&Config::feed_forward, &FeedForwardConfig::gate),
                      "the feed-forward is W2 (f(Wg x) * (W1 x)) with f the activation (T5 v1.1)"),
        boolean_field("feed_forward.bias", at(&Config::feed_forward, &FeedForwardConfig::bias),
                      "biases of the feed-forward's layers"),
        integer_field("feed_forward.experts.count",
                      at(&Config::feed_forward, &FeedForwardConfig::experts, &ExpertsConfig::count), 0, kMaxExperts,
                      "feed-forward parts of a layer of which a router chooses for each token (Shazeer et al., 2017), "
                      "at least 2; 0: one part and no router"),
        integer_field("feed_forward.experts.per_token",
                      at(&Config::feed_forward, &FeedForwardConfig::experts, &ExpertsConfig::per_token), 1, kMaxExperts,
                      "how many of its experts a token goes to")
            .only_if(kExperts),
        number_field("feed_forward.experts.capacity",
                     at(&Config::feed_forward, &FeedForwardConfig::experts, &ExpertsConfig::capacity), 0.0, kMaxExperts,
                     "in training passes an expert takes at most this factor times its even share of the "
                     "positions; what finds it full is dropped; 0: nothing is")
            .only_if(kExperts),

        choice_field("norm.placement", at(&Config::norm, &NormConfig::placement),
                     {{"post", NormPlacement::Post},
                      {"pre", NormPlacement::Pre},
                      {"sandwich", NormPlacement::Sandwich},
                      {"inside", NormPlacement::Inside}},
                     "LayerNorm(x + f(x)), as in 3.1; `\"pre\"`: x + f(LayerNorm(x)); `\"sandwich\"` (Gemma 3): "
                     "x + LayerNorm(f(LayerNorm(x))); `\"inside\"` (OLMo 2): x + LayerNorm(f(x)); all but `\"post\"` "
                     "with a norm after each stack"),
        choice_field("norm.parallel", at(&Config::norm, &NormConfig::parallel),
                     {{"none", ParallelLayers::None},
                      {"one_norm", ParallelLayers::OneNorm},
                      {"two_norms", ParallelLayers::TwoNorms}},
                     "both sub-layers of a layer read the same and are added together: x + f(LayerNorm(x)) + "
                     "g(LayerNorm(x)), of one norm (GPT-J) or of one each (GPT-NeoX)")
            .only_if(kPreNorm)
            .only_if(kOneStack),
        choice_field(
            "norm.type", at(&Config::norm, &NormConfig::type),
            {{"layer", NormType::Layer}, {"rms", NormType::Rms}, {"batch", NormType::Batch}, {"none", NormType::None}},
            "`\"rms\"` divides by the root mean square, without mean and bias, as in T5 and Llama; `\"batch\"` "
            "normalises each column over the tokens of a batch, after training by running averages; `\"none\"`: "
            "no norms"),
        number_field("norm.epsilon", at(&Config::norm, &NormConfig::epsilon), 1e-15, 1.0,
                     "added to the variance or mean square"),

        choice_field("positions.kind", at(&Config::positions, &PositionsConfig::kind),
                     {{"sinusoid", Positions::Sinusoid},
                      {"learned", Positions::Learned},
                      {"index", Positions::Index},
                      {"normalised", Positions::Normalised},
                      {"none", Positions::None}},
                     "what is added to the embeddings: sinusoids (3.5), learned vectors (Table 3, row E), the "
                     "position's number in every column, the same divided so that a text's last is 1 (in a decoder, "
                     "which does not know the length, position `max_length` - 1), or nothing"),
        choice_field("positions.layout", at(&Config::positions, &PositionsConfig::layout),
                     {{"interleaved", SinusoidLayout::Interleaved},
                      {"halves_minus_one", SinusoidLayout::HalvesMinusOne},
                      {"halves", SinusoidLayout::Halves}},
                     "with k = 0 .. d/2-1: sine in column 2k, cosine in 2k+1, wavelength 10000^(2k/d) (3.5); "
                     "`\"halves\"` (Hugging Face's MarianMT): sines in the first half, cosines in the second; "
                     "`\"halves_minus_one\"` (tensor2tensor, Marian, fairseq): halves, wavelength "
                     "10000^(k/(d/2-1))")
            .only_if(kSinusoids),
        integer_field("positions.first", at(&Config::positions, &PositionsConfig::first), 0, 1024,
                      "the number of a text's first position; CTranslate2's is 1, fairseq's 2")
            .only_if(kSinusoids),
        integer_field("positions.columns", at(&Config::positions, &PositionsConfig::columns), 0, kMaxSide,
                      "columns that positions have of their own, behind those of the embedding, which has "
                      "that many fewer; must be even with sinusoids; 0: positions are added")
            .only_if(kPositions),
        choice_field("positions.relative.kind",
                     at(&Config::positions, &PositionsConfig::relative, &RelativePositionsConfig::kind),
                     {{"none", RelativePositions::None},
                      {"buckets", RelativePositions::Buckets},
                      {"layer_buckets", RelativePositions::LayerBuckets}},
                     "`\"buckets\"`: each head adds a learned number to the scores of self-attention, one for "
                     "each bucket of distances between query and key (T5); `\"layer_buckets\"`: each layer has "
                     "its own numbers (UMT5)")
            .only_if(needs_all_to_attend()),
        integer_field("positions.relative.buckets",
                      at(&Config::positions, &PositionsConfig::relative, &RelativePositionsConfig::buckets), 4,
                      kMaxCounter, "number of buckets; half of them are for keys after the query, except in a decoder")
            .only_if(kRelative),
        integer_field("positions.relative.distance",
                      at(&Config::positions, &PositionsConfig::relative, &RelativePositionsConfig::distance), 3,
                      kMaxCounter, "all distances from here on are in the last bucket")
            .only_if(kRelative),
    };
}

// Of embeddings, outputs and what stands around texts.
ConfigFields<Config> text_fields() {
    return {
        choice_field("embedding.tying", at(&Config::embedding, &EmbeddingConfig::tying),
                     {{"all", Tying::All},
                      {"target_output", Tying::TargetOutput},
                      {"embeddings", Tying::Embeddings},
                      {"none", Tying::None}},
                     "one matrix for source embedding, target embedding and output (3.4); `\"target_output\"`: one for "
                     "the last two; `\"embeddings\"`: one for the first two")
            .only_if(kPiecesWritten),
        boolean_field("embedding.scale", at(&Config::embedding, &EmbeddingConfig::scale),
                      "embeddings of pieces times sqrt(d_model) (3.4)")
            .only_if(kPiecesWritten),
        choice_field("embedding.norm", at(&Config::embedding, &EmbeddingConfig::norm),
                     {{"none", EmbeddingNorm::None}, {"last", EmbeddingNorm::Last}, {"first", EmbeddingNorm::First}},
                     "a norm after the embeddings (BERT); `\"first\"`: in the decoder it comes before positions are "
                     "added, of embeddings that are not scaled (BlenderbotSmall)"),
        integer_field("embedding.token_types", at(&Config::embedding, &EmbeddingConfig::token_types), 0, kMaxCounter,
                      "segments of a text (BERT: 2), each with a learned vector; 0: none")
            .only_if(kNotNormalised)
            .only_if(kMaskedLm),

        choice_field(
            "output.head", at(&Config::output, &OutputConfig::head),
            {{"vocabulary", OutputHead::Vocabulary},
             {"scalar", OutputHead::Scalar},
             {"classes", OutputHead::Classes},
             {"labels", OutputHead::Labels},
             {"span", OutputHead::Span}},
            "what the last hidden states become: logits; `\"scalar\"`: also a number, as of reward models; "
            "`\"classes\"`: also a number for each class of a text; `\"labels\"`: the same where a text has any "
            "number of classes; `\"span\"`: also two at each piece, for the start and the end of an answer")
            .only_if(kLeftToRight),
        texts_field("output.labels", at(&Config::output, &OutputConfig::labels), "the names of the classes, in order")
            .only_if(kClasses),
        choice_field("output.scored", at(&Config::output, &OutputConfig::scored),
                     {{"first", ScoredState::First}, {"last", ScoredState::Last}, {"mean", ScoredState::Mean}},
                     "the state whose numbers are a text's: that of its first piece (BERT's `[CLS]`) or of its last "
                     "one, or the mean of all")
            .by_default("`\"last\"`, `masked-lm` `\"first\"`, `encoder` `\"first\"` with a class token and else "
                        "`\"mean\"`",
                        [](ConfigReader&, Config& config) {
                            const bool whole = kScoresTexts.met(config) && !has_decoder(config);
                            config.output.scored = !whole ? ScoredState::Last
                                                   : config.input.patches() && !config.input.class_token
                                                       ? ScoredState::Mean
                                                       : ScoredState::First;
                        })
            .only_if(kScoresTexts),
        choice_field("output.layer", at(&Config::output, &OutputConfig::layer),
                     {{"none", ScoreLayer::None}, {"relu", ScoreLayer::Relu}, {"tanh", ScoreLayer::Tanh}},
                     "a layer with this activation before those numbers (BERT's pooler)")
            .only_if(kScoresTexts),
        boolean_field("output.scale", at(&Config::output, &OutputConfig::scale),
                      "the last hidden states divided by sqrt(d_model) before the logits (T5)")
            .only_if(kPiecesWritten),
        ids_field("output.adaptive.cutoffs",
                  at(&Config::output, &OutputConfig::adaptive, &AdaptiveOutputConfig::cutoffs), kMaxVocabulary - 1, {},
                  "`[]`: one softmax over all pieces (3.4). Otherwise an adaptive one (Grave et al., 2017), over the "
                  "most frequent pieces and the clusters of the others, and in each cluster: the first id of each "
                  "cluster, ascending; ids should be in order of frequency")
            .only_if(kPiecesWritten),
        integer_field("output.adaptive.factor",
                      at(&Config::output, &OutputConfig::adaptive, &AdaptiveOutputConfig::factor), 1, kMaxSide,
                      "the states for the i-th cluster are projected to d_model / factor^i numbers")
            .only_if(kAdaptive),
        boolean_field("output.bias", at(&Config::output, &OutputConfig::bias), "a bias on the logits")
            .only_if(kFull)
            .only_if(kPiecesWritten),
        choice_field("output.transform", at(&Config::output, &OutputConfig::transform),
                     {{"none", OutputTransform::None},
                      {"activation", OutputTransform::Activation},
                      {"gelu", OutputTransform::Gelu}},
                     "a layer, the activation and a norm before the logits (BERT's head); `\"gelu\"`: with that "
                     "activation, whatever the feed-forward's is (RoBERTa)")
            .only_if(kNoBatchNorm)
            .only_if(kPiecesWritten),
        number_field("output.temperature", at(&Config::output, &OutputConfig::temperature), 0.01, 100.0,
                     "what the logits are divided by when the model is used (Guo et al., 2017), as `headscope "
                     "calibrate` finds it; training ignores this")
            .only_if(kFull)
            .only_if(kPiecesWritten),

        integer_field("frame.pad_id", at(&Config::frame, &FrameConfig::pad_id), -1, kMaxVocabulary - 1,
                      "the target's padding, which is never written; -1: none"),
        integer_field("frame.bos_id", at(&Config::frame, &FrameConfig::bos_id), -1, kMaxVocabulary - 1,
                      "what the decoder starts from; may be the pad (Marian) or the end (fairseq); -1: a zero vector, "
                      "or in a `causal-lm` nothing: its texts start with their first piece"),
        integer_field("frame.eos_id", at(&Config::frame, &FrameConfig::eos_id), 0, kMaxVocabulary - 1,
                      "the end of a target"),
        integer_field("frame.unk_id", at(&Config::frame, &FrameConfig::unk_id), -1, kMaxVocabulary - 1,
                      "the target's unknown piece; -1: none"),
        integer_field("frame.mask_id", at(&Config::frame, &FrameConfig::mask_id), -1, kMaxVocabulary - 1,
                      "the piece to fill in, needed by `masked-lm` and `\"mask_predict\"`; -1: none"),
        ids_field("frame.source_begin", at(&Config::frame, &FrameConfig::source_begin), kMaxVocabulary - 1,
                  kLanguageNames, "what stands before a source's pieces")
            .only_if(kBothStacks)
            .only_if(kPiecesRead),
        ids_field("frame.source_end", at(&Config::frame, &FrameConfig::source_end), kMaxVocabulary - 1, kLanguageNames,
                  "what stands after them; may be empty (OpenNMT)")
            .by_default("`[eos_id]`",
                        [](ConfigReader&, Config& config) {
                            config.frame.source_end.assign(config.input.patches() ? 0 : 1, config.frame.eos_id);
                        })
            .only_if(kPiecesRead),
        ids_field("frame.target_begin", at(&Config::frame, &FrameConfig::target_begin), kMaxVocabulary - 1,
                  kLanguageNames,
                  "the first tokens of every output, after `bos_id`: not chosen by the search, and no part of "
                  "the text")
            .only_if(kBothStacks),
        ids_field("frame.between", at(&Config::frame, &FrameConfig::between), kMaxVocabulary - 1, {},
                  "what stands between two texts: one end (BERT), or two (RoBERTa)")
            .by_default("`[eos_id]`",
                        [](ConfigReader&, Config& config) {
                            if (!has_decoder(config)) {
                                config.frame.between = {config.frame.eos_id};
                            }
                        })
            .only_if(kMaskedLm),
        named_ids_field("frame.languages", at(&Config::frame, &FrameConfig::languages), kMaxVocabulary - 1,
                        "the tokens that `\"source_language\"` and `\"target_language\"` may stand for")
            .only_if(kLanguageWords),
        ids_field("frame.suppressed_ids", at(&Config::frame, &FrameConfig::suppressed_ids), kMaxVocabulary - 1, {},
                  "target pieces of probability 0, such as the pad of OPUS-MT; training ignores this"),
    };
}

}  // namespace

const ConfigFields<Config>& model_fields() {
    static const ConfigFields<Config> table = [] {
        ConfigFields<Config> all = layer_fields();
        for (const ConfigFields<Config>& more : {picture_fields(), rotary_fields(), text_fields()}) {
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    return table;
}

}  // namespace headscope
