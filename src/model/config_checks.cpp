#include "model/config_checks.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace headscope {

namespace {

using Config = ModelConfig;

constexpr std::int64_t kMaxMatrix = std::int64_t{1} << 31;  // elements: a product of two sides fits shaders' 32 bits

void check_layers(const std::string& origin, const char* key, int layers, bool has_stack) {
    if ((layers > 0) != has_stack) {
        throw Error(fmt::format("{}: \"{}\" must be {} for this \"architecture\", found {}", origin, key,
                                has_stack ? "at least 1" : "0", layers));
    }
}

void check_decoder_sizes(const Config& config, const std::string& origin) {
    for (const auto& [key, columns] : {std::pair{"d_k", config.attention.heads * config.attention.d_k},
                                       {"d_v", config.attention.heads * config.attention.d_v}}) {
        if (config.attention.decoder_heads > 0 && columns % config.attention.decoder_heads != 0) {
            throw Error(fmt::format("{}: \"decoder_heads\" must divide {}, which is heads times {}, found {}", origin,
                                    columns, key, config.attention.decoder_heads));
        }
    }
    if (config.embedding.norm_first && (!config.embedding.norm || config.norm.type == NormType::Batch ||
                                        config.positions.combination == PositionCombination::Concatenate)) {
        throw Error(
            fmt::format("{}: \"embedding_norm_first\" must be false unless \"embedding_norm\" is true, with "
                        "\"norm_type\" other than \"batch\" and \"position_combination\" \"add\"",
                        origin));
    }
}

void check_family(const Config& config, const std::string& origin) {
    check_layers(origin, "encoder_layers", config.encoder_layers, has_encoder(config));
    check_layers(origin, "decoder_layers", config.decoder_layers, has_decoder(config));
    if (config.embedding.token_types > 0 && config.architecture != Architecture::MaskedLm) {
        throw Error(fmt::format("{}: \"token_types\" must be 0 unless \"architecture\" is \"masked-lm\", found {}",
                                origin, config.embedding.token_types));
    }
    if (config.architecture == Architecture::EncoderDecoder) {
        return check_decoder_sizes(config, origin);
    }
    for (const auto& [key, given] : {std::pair{"decoder_d_ff", config.feed_forward.decoder_d_ff > 0},
                                     {"decoder_heads", config.attention.decoder_heads > 0},
                                     {"embedding_norm_first", config.embedding.norm_first}}) {
        if (given) {
            throw Error(
                fmt::format("{}: \"{}\" must be left out unless \"architecture\" is \"encoder-decoder\"", origin, key));
        }
    }
    if (config.embedding.tying != Tying::All && config.embedding.tying != Tying::None) {
        throw Error(fmt::format("{}: \"tying\" must be \"all\" or \"none\" for a language model, found \"{}\"", origin,
                                config.embedding.tying == Tying::TargetOutput ? "target_output" : "embeddings"));
    }
    if (config.source_vocabulary != config.target_vocabulary) {
        throw Error(
            fmt::format("{}: a language model has one vocabulary, but source_vocabulary is {} and "
                        "target_vocabulary is {}",
                        origin, config.source_vocabulary, config.target_vocabulary));
    }
}

void check_output_layer(const Config& config, const std::string& origin) {
    const std::vector<std::int32_t>& cutoffs = config.output.adaptive.cutoffs;
    if ((config.output.layer == OutputLayer::Adaptive) == cutoffs.empty()) {
        throw Error(fmt::format("{}: \"adaptive_cutoffs\" must {} [] {} \"output_layer\" is \"adaptive\"", origin,
                                cutoffs.empty() ? "not be" : "be", cutoffs.empty() ? "if" : "unless"));
    }
    if (cutoffs.empty()) {
        return;
    }
    const bool ascending = std::adjacent_find(cutoffs.begin(), cutoffs.end(), std::greater_equal<>()) == cutoffs.end();
    if (!ascending || cutoffs.front() < 1 || cutoffs.back() >= config.target_vocabulary) {
        throw Error(
            fmt::format("{}: \"adaptive_cutoffs\" must ascend from at least 1 to at most {}, one piece less "
                        "than the vocabulary, found [{}]",
                        origin, config.target_vocabulary - 1, fmt::join(cutoffs, ", ")));
    }
    std::int64_t width = config.d_model;
    for (std::size_t i = 0; i < cutoffs.size(); ++i) {
        width /= config.output.adaptive.factor;
    }
    if (width < 1) {
        throw Error(
            fmt::format("{}: \"adaptive_factor\" {} would project d_model {} to nothing in cluster {}; a "
                        "smaller one or fewer clusters are possible",
                        origin, config.output.adaptive.factor, config.d_model, cutoffs.size()));
    }
    if (config.embedding.tying == Tying::All || config.embedding.tying == Tying::TargetOutput) {
        throw Error(
            fmt::format("{}: \"tying\" must be \"none\"{} with an adaptive \"output_layer\", whose clusters "
                        "are narrower than the embedding, found \"{}\"",
                        origin, config.architecture == Architecture::EncoderDecoder ? " or \"embeddings\"" : "",
                        config.embedding.tying == Tying::All ? "all" : "target_output"));
    }
    if (config.output.bias) {
        throw Error(origin + ": \"output_bias\" must be false with an adaptive \"output_layer\"");
    }
}

void check_matrix(const std::string& origin, const char* what, std::int64_t rows, std::int64_t columns) {
    if (rows * columns >= kMaxMatrix) {
        throw Error(fmt::format("{}: the {} matrix would have {} x {} entries; fewer than {} are supported", origin,
                                what, rows, columns, kMaxMatrix));
    }
}

void check_sinusoids(const Config& config, const std::string& origin) {
    const bool added = config.positions.combination == PositionCombination::Add;
    const char* key = added ? "d_model" : "position_columns";
    const std::int64_t columns = added ? config.d_model : config.positions.columns;
    if (columns % 2 != 0 && config.positions.layout != SinusoidLayout::Halves) {
        throw Error(
            fmt::format("{}: \"{}\" must be even because sinusoids come in pairs, found {}", origin, key, columns));
    }
    if (config.positions.layout == SinusoidLayout::HalvesMinusOne && columns < 4) {
        throw Error(fmt::format("{}: \"{}\" must be at least 4 with the layout \"halves_minus_one\", found {}", origin,
                                key, columns));
    }
}

void check_position_combination(const Config& config, const std::string& origin) {
    if (config.positions.combination == PositionCombination::Add) {
        if (config.positions.columns != 0) {
            throw Error(
                fmt::format("{}: \"position_columns\" must be 0 unless \"position_combination\" is "
                            "\"concatenate\", found {}",
                            origin, config.positions.columns));
        }
        return;
    }
    if (config.positions.columns < 1 || config.positions.columns >= config.d_model) {
        throw Error(
            fmt::format("{}: \"position_columns\" must be 1 to {}, fewer than d_model, to concatenate, found {}",
                        origin, config.d_model - 1, config.positions.columns));
    }
    if (config.positions.kind == Positions::None) {
        throw Error(fmt::format("{}: \"position_combination\" must be \"add\" with \"positions\" \"none\"", origin));
    }
    if (config.embedding.tying == Tying::All || config.embedding.tying == Tying::TargetOutput) {
        throw Error(
            fmt::format("{}: \"tying\" must be \"embeddings\" or \"none\" with concatenated positions: the "
                        "embeddings have {} columns, the output {}",
                        origin, config.embedding_columns(), config.d_model));
    }
}

void check_relative_positions(const Config& config, const std::string& origin) {
    if (config.positions.relative.kind != RelativePositions::None &&
        config.positions.relative.distance <= config.positions.relative.buckets / 2) {
        throw Error(fmt::format("{}: \"relative_distance\" must be above {}, half of \"relative_buckets\", found {}",
                                origin, config.positions.relative.buckets / 2, config.positions.relative.distance));
    }
    if (config.positions.kind == Positions::Normalised && config.embedding.token_types > 0) {
        throw Error(fmt::format("{}: \"token_types\" must be 0 with \"positions\" \"normalised\", found {}", origin,
                                config.embedding.token_types));
    }
    // Without positions a causal model still knows how many tokens came before.
    if (config.positions.kind == Positions::None && config.positions.relative.kind == RelativePositions::None &&
        attends(config, AttentionKind::EncoderSelf)) {
        throw Error(fmt::format(
            "{}: \"positions\" must not be \"none\" without \"relative_positions\" unless "
            "\"architecture\" is \"causal-lm\" or \"encoder_mixer\" is \"convolution\", \"lstm\" or \"gru\"",
            origin));
    }
}

void check_id(const std::string& origin, const char* key, std::int64_t id, std::int64_t vocabulary) {
    if (id >= vocabulary) {
        throw Error(fmt::format("{}: \"{}\" must be below {}, the size of the vocabulary, found {}", origin, key,
                                vocabulary, id));
    }
}

// Returns whether they contain the token of a language.
bool check_ids(const Config& config, const std::string& origin, const char* key, const std::vector<std::int32_t>& ids,
               std::int64_t vocabulary) {
    bool of_language = false;
    for (const std::int32_t id : ids) {
        check_id(origin, key, id, vocabulary);
        of_language = of_language || id < 0;
    }
    for (const auto& [name, id] : config.frame.languages) {
        check_id(origin, "languages", of_language ? id : 0, vocabulary);
    }
    return of_language;
}

// What stands around texts.
void check_frame(const Config& config, const std::string& origin) {
    const bool before = check_ids(config, origin, "source_begin", config.frame.source_begin, config.source_vocabulary);
    const bool after = check_ids(config, origin, "source_end", config.frame.source_end, config.source_vocabulary);
    const bool target = check_ids(config, origin, "target_begin", config.frame.target_begin, config.target_vocabulary);
    check_ids(config, origin, "suppressed_ids", config.frame.suppressed_ids, config.target_vocabulary);
    if ((before || after || target) == config.frame.languages.empty()) {
        throw Error(fmt::format("{}: \"languages\" {}", origin,
                                config.frame.languages.empty()
                                    ? "must name the languages that \"source_language\" and \"target_language\" stand "
                                      "for"
                                    : "must be {} unless \"source_begin\", \"source_end\" or \"target_begin\" "
                                      "contain \"source_language\" or \"target_language\""));
    }
    if (std::find(config.frame.suppressed_ids.begin(), config.frame.suppressed_ids.end(), config.frame.eos_id) !=
        config.frame.suppressed_ids.end()) {
        throw Error(fmt::format("{}: \"suppressed_ids\" must not contain eos_id {}: no output would end", origin,
                                config.frame.eos_id));
    }
    if (config.architecture != Architecture::EncoderDecoder &&
        !(config.frame.source_begin.empty() && config.frame.target_begin.empty())) {
        throw Error(fmt::format("{}: \"source_begin\" and \"target_begin\" must be [] for a language model", origin));
    }
}

}  // namespace

void check_combinations(const Config& config, const std::string& origin) {
    check_family(config, origin);
    check_sublayers(config, origin);
    check_output_layer(config, origin);
    check_matrix(origin, "q, k and v", config.attention.heads * (2 * config.attention.d_k + config.attention.d_v),
                 config.d_model);
    check_matrix(origin, "feed-forward",
                 std::max<std::int64_t>(config.feed_forward.experts.count, 1) *
                     std::max(config.feed_forward.d_ff, config.feed_forward.decoder_d_ff),
                 config.d_model);
    check_matrix(origin, "source embedding", config.source_vocabulary, config.d_model);
    check_matrix(origin, "target embedding", config.target_vocabulary, config.d_model);
    if (config.positions.kind == Positions::Sinusoid) {
        check_sinusoids(config, origin);
    }
    if (config.norm.type == NormType::Batch && config.output.transform) {
        throw Error(fmt::format("{}: \"output_transform\" must be false with \"norm_type\" \"batch\"", origin));
    }
    if (config.output.gelu_transform && !config.output.transform) {
        throw Error(fmt::format("{}: \"gelu_transform\" must be false unless \"output_transform\" is true", origin));
    }
    check_position_combination(config, origin);
    check_relative_positions(config, origin);
    const bool one_embedding = config.embedding.tying == Tying::All || config.embedding.tying == Tying::Embeddings;
    if (one_embedding && config.source_vocabulary != config.target_vocabulary) {
        throw Error(fmt::format(
            "{}: \"tying\" is \"{}\", but source_vocabulary is {} and target_vocabulary is {}; use one shared "
            "vocabulary, or \"target_output\" or \"none\"",
            origin, config.embedding.tying == Tying::All ? "all" : "embeddings", config.source_vocabulary,
            config.target_vocabulary));
    }
    const bool starts_at_0 = config.positions.kind != Positions::Sinusoid && config.positions.kind != Positions::None;
    if (starts_at_0 && config.positions.first != 0) {
        throw Error(fmt::format("{}: \"first_position\" must be 0 unless positions are sinusoids, found {}", origin,
                                config.positions.first));
    }
    check_id(origin, "pad_id", config.frame.pad_id, config.target_vocabulary);
    check_id(origin, "bos_id", config.frame.bos_id, config.target_vocabulary);
    check_id(origin, "eos_id", config.frame.eos_id, config.target_vocabulary);
    check_id(origin, "unk_id", config.frame.unk_id, config.target_vocabulary);
    check_id(origin, "mask_id", config.frame.mask_id, config.target_vocabulary);
    if (config.architecture == Architecture::MaskedLm && (config.frame.mask_id < 0 || config.frame.bos_id < 0)) {
        throw Error(fmt::format("{}: \"{}\" must be the id of a piece for \"masked-lm\", found -1", origin,
                                config.frame.mask_id < 0 ? "mask_id" : "bos_id"));
    }
    if (config.frame.eos_id == config.frame.pad_id) {
        throw Error(fmt::format("{}: \"eos_id\" {} must differ from pad_id", origin, config.frame.eos_id));
    }
    check_frame(config, origin);
}

}  // namespace headscope
