#include "model/config_checks.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/convolution.h"
#include "support/check.h"

namespace headscope {

namespace {

using Config = ModelConfig;

constexpr std::int64_t kMaxMatrix = std::int64_t{1} << 31;  // elements: a product of two sides fits shaders' 32 bits

// The keys that go together only in some ways; what one key alone decides about another is in the table of keys.
class Checks {
public:
    Checks(const Config& config, const std::string& origin) : config_(config), origin_(origin) {}

    void all() const {
        sizes();
        pictures();
        convolution();
        recurrent();
        generation();
        experts();
        positions();
        rotary();
        tying();
        adaptive_output();
        classes();
        ids();
        frame();
    }

private:
    // `problem` follows the key: "must be even, found 7".
    template <class... Args>
    void require(bool holds, const char* key, fmt::format_string<Args...> problem, Args&&... args) const {
        if (!holds) {
            throw Error(fmt::format("{}: \"{}\" {}", origin_, key, fmt::format(problem, std::forward<Args>(args)...)));
        }
    }

    void matrix(const char* what, std::int64_t rows) const {
        if (rows * config_.d_model >= kMaxMatrix) {
            throw Error(fmt::format("{}: the {} matrix would have {} x {} entries; fewer than {} are supported",
                                    origin_, what, rows, config_.d_model, kMaxMatrix));
        }
    }

    void sizes() const {
        const AttentionConfig& a = config_.attention;
        for (const auto& [key, size] : {std::pair{"d_k", a.d_k}, {"d_v", a.d_v}}) {
            require(a.decoder_heads == 0 || a.heads * size % a.decoder_heads == 0, "attention.decoder_heads",
                    "must divide {}, which is heads times {}, found {}", a.heads * size, key, a.decoder_heads);
        }
        const FeedForwardConfig& f = config_.feed_forward;
        for (const std::int64_t heads : {a.heads, a.decoder_heads}) {
            require(a.kv_heads == 0 || heads % a.kv_heads == 0, "attention.kv_heads",
                    "must divide the {} heads of an attention, found {}", heads, a.kv_heads);
        }
        for (const AttentionKind kind : {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf}) {
            const AttentionConfig own = of_stack(config_, kind).attention;
            matrix("q, k and v", own.heads * own.d_k + own.groups() * (own.d_k + own.d_v));
        }
        matrix("feed-forward", std::max<std::int64_t>(f.experts.count, 1) * std::max(f.d_ff, f.decoder_d_ff));
        matrix("source embedding", config_.input.patches()
                                       ? config_.input.channels * config_.input.patch * config_.input.patch
                                       : config_.source_vocabulary);
        matrix("target embedding", config_.target_vocabulary);
        matrix("position", config_.positions.kind == Positions::Learned ? config_.max_length : 0);
        require(
            config_.embedding.norm != EmbeddingNorm::First ||
                (is_translator() && config_.norm.type != NormType::Batch && config_.positions.columns == 0),
            "embedding.norm",
            "must not be \"first\" unless \"architecture\" is \"encoder-decoder\", \"norm.type\" is not \"batch\" and "
            "\"positions.columns\" is 0");
    }

    void pictures() const {
        const InputConfig& p = config_.input;
        require(p.patches() || config_.architecture != Architecture::Encoder, "input.kind",
                "must be \"patches\" for \"encoder\"");
        require(config_.architecture != Architecture::Encoder || config_.output.scores_texts(), "output.head",
                "must be \"classes\", \"labels\" or \"scalar\" for \"encoder\", which writes no text");
        if (!p.patches()) {
            return;
        }
        require(p.channels != 2, "input.channels", "must be 1 or 3, found 2");
        require(p.picture % p.patch == 0, "input.picture", "must be a multiple of \"input.patch\", {}, found {}",
                p.patch, p.picture);
        for (const auto& [key, numbers] : {std::pair{"input.mean", &p.mean}, {"input.deviation", &p.deviation}}) {
            require(std::ssize(*numbers) == p.channels, key, "must have a number for each of {} channels, found {}",
                    p.channels, numbers->size());
        }
        const std::int64_t side = p.picture / p.patch;
        const std::int64_t positions = side * side + (p.class_token ? 1 : 0);
        require(positions <= config_.max_length, "max_length",
                "must be at least {}, the positions of a picture, found {}", positions, config_.max_length);
        require(config_.mixer.encoder == MixerKind::SelfAttention, "mixer.encoder",
                "must be \"self_attention\" with \"input.kind\" \"patches\"");
    }

    void convolution() const {
        const ConvolutionConfig& c = config_.mixer.convolution;
        const bool encodes = config_.mixer.encoder == MixerKind::Convolution;
        require(!encodes || c.kernel % 2 == 1, "mixer.convolution.kernel",
                "must be odd in an encoder, which reads as many positions before as after, found {}", c.kernel);
        const auto check_reach = [&](const char* stack, int layers, int sides) {
            const std::int64_t apart = convolution_span(config_, layers - 1) / sides;
            require(apart < config_.max_length, "mixer.convolution.kernel",
                    "{} with \"mixer.convolution.dilation\" {} reads {} positions away in layer {} of the {}; only "
                    "fewer than max_length, {}, make sense",
                    c.kernel, c.dilation, apart, layers, stack, config_.max_length);
        };
        if (encodes) {
            check_reach("encoder", config_.encoder_layers, 2);
        }
        if (config_.mixer.decoder == MixerKind::Convolution) {
            check_reach("decoder", config_.decoder_layers, 1);
        }
    }

    void recurrent() const {
        require(config_.attention.cross || !config_.norm.of_outputs(), "norm.placement",
                "must be \"post\" or \"pre\" without \"attention.cross\": the last layer of the encoder has no output");
        require(!config_.mixer.bidirectional || config_.d_model % 2 == 0, "d_model",
                "must be even for two directions, found {}", config_.d_model);
    }

    void generation() const {
        if (config_.generation == Generation::LeftToRight) {
            return;
        }
        const auto check = [&](bool possible, const char* key, const char* needed) {
            require(possible, key, "must be {} with \"generation\" \"mask_predict\"", needed);
        };
        check(attends(config_, AttentionKind::DecoderSelf), "mixer.decoder",
              "\"self_attention\" or \"restricted\", which read in both directions,");
        check(config_.frame.mask_id >= 0, "frame.mask_id", "the id of a piece");
        check(config_.frame.target_begin.empty(), "frame.target_begin", "[]");
        check(!config_.frame.source_end.empty(), "frame.source_end", "one token or more");
        check(config_.max_length >= 2, "max_length", "at least 2");
    }

    void experts() const {
        const ExpertsConfig& e = config_.feed_forward.experts;
        require(e.count != 1, "feed_forward.experts.count",
                "must be at least 2, or 0 for one feed-forward part, found 1");
        require(e.count == 0 || e.per_token <= e.count, "feed_forward.experts.per_token",
                "must be between 1 and \"feed_forward.experts.count\", {}, found {}", e.count, e.per_token);
    }

    void positions() const {
        const PositionsConfig& p = config_.positions;
        require(p.columns < config_.d_model, "positions.columns", "must be fewer than d_model, {}, found {}",
                config_.d_model, p.columns);
        if (p.kind == Positions::Sinusoid) {
            const char* key = p.columns == 0 ? "d_model" : "positions.columns";
            const std::int64_t columns = config_.position_width();
            require(columns % 2 == 0 || p.layout == SinusoidLayout::Halves, key,
                    "must be even for sinusoidal positions, found {}", columns);
            require(columns >= 4 || p.layout != SinusoidLayout::HalvesMinusOne, key,
                    "must be at least 4 for the sinusoid layout \"halves_minus_one\", found {}", columns);
        }
        const RelativePositionsConfig& r = p.relative;
        require(r.kind == RelativePositions::None || r.distance > r.buckets / 2, "positions.relative.distance",
                "must be above {}, half of \"positions.relative.buckets\", found {}", r.buckets / 2, r.distance);
        // Without positions a causal model still knows how many tokens came before.
        require(
            p.kind != Positions::None || r.kind != RelativePositions::None || p.rotary.kind != Rotary::None ||
                !attends(config_, AttentionKind::EncoderSelf),
            "positions.kind",
            "must not be \"none\" without \"positions.relative\" or \"positions.rotary\" unless \"architecture\" is "
            "\"causal-lm\" or \"mixer.encoder\" is \"convolution\", \"lstm\" or \"gru\"");
    }

    void rotary() const {
        const RotaryConfig& r = config_.positions.rotary;
        check_pattern("mixer.window_pattern", config_.mixer.window_pattern);
        check_pattern("positions.rotary.pattern", r.pattern);
        if (r.kind == Rotary::None) {
            return;
        }
        const AttentionConfig& a = config_.attention;
        const std::int64_t narrowest = std::min(a.d_k, of_stack(config_, AttentionKind::DecoderSelf).attention.d_k);
        require(r.columns <= narrowest, "positions.rotary.columns", "must be at most d_k, {}, found {}", narrowest,
                r.columns);
        require(r.columns > 0 || a.decoder_heads == 0, "positions.rotary.columns",
                "must not be 0 with \"attention.decoder_heads\": the heads of the stacks have different widths");
        const std::int64_t columns = r.columns > 0 ? r.columns : a.d_k;
        require(columns % 2 == 0, r.columns > 0 ? "positions.rotary.columns" : "attention.d_k",
                "must be even for rotary positions, found {}", columns);
        require(r.kind != Rotary::Ntk || columns > 2, "positions.rotary.kind",
                "must not be \"ntk\" with one pair of columns");
        require(r.kind != Rotary::Factors || std::ssize(r.factors) == columns / 2, "positions.rotary.factors",
                "must hold a number for each of {} pairs of columns, found {}", columns / 2, r.factors.size());
        require(r.kind != Rotary::Llama3 || r.low < r.high, "positions.rotary.high",
                "must be above \"positions.rotary.low\", {}, found {}", r.low, r.high);
        require(r.kind != Rotary::Yarn || r.low <= r.high, "positions.rotary.high",
                "must be at least \"positions.rotary.low\", {}, found {}", r.low, r.high);
        require(r.kind != Rotary::Yarn || r.base > 1.0, "positions.rotary.base", "must be above 1 for \"yarn\"");
    }

    void check_pattern(const char* key, const std::vector<std::int32_t>& pattern) const {
        require(pattern.empty() || std::ranges::find(pattern, 1) != pattern.end(), key,
                "must be [] or have a 1, found [{}]", fmt::join(pattern, ", "));
    }

    void tying() const {
        const Tying tying = config_.embedding.tying;
        const auto allow = [&](std::initializer_list<Tying> allowed, const char* names, const std::string& reason) {
            require(std::find(allowed.begin(), allowed.end(), tying) != allowed.end(), "embedding.tying",
                    "must be {}{}, found \"{}\"", names, reason, name_of(tying));
        };
        if (config_.architecture == Architecture::Encoder) {
            return;  // without a vocabulary
        }
        if (!is_translator()) {
            allow({Tying::All, Tying::None}, "\"all\" or \"none\"", " for a language model");
        }
        const bool separate = config_.adaptive() || config_.positions.columns > 0;
        if (separate) {
            allow({Tying::Embeddings, Tying::None}, is_translator() ? "\"embeddings\" or \"none\"" : "\"none\"",
                  config_.adaptive()
                      ? std::string(" with \"output.adaptive\", whose clusters are narrower than the embedding")
                      : fmt::format(" with \"positions.columns\": the embeddings have {} columns, the output {}",
                                    config_.embedding_columns(), config_.d_model));
        }
        if (config_.input.patches()) {
            allow({Tying::TargetOutput, Tying::None}, "\"target_output\" or \"none\"",
                  " with \"input.kind\" \"patches\": pictures have no embedding to share");
            return;
        }
        require((tying != Tying::All && tying != Tying::Embeddings) ||
                    config_.source_vocabulary == config_.target_vocabulary,
                "embedding.tying",
                "is \"{}\", but source_vocabulary is {} and target_vocabulary is {}; use one shared vocabulary, or "
                "\"target_output\" or \"none\"",
                name_of(tying), config_.source_vocabulary, config_.target_vocabulary);
    }

    void adaptive_output() const {
        const auto& [cutoffs, factor] = config_.output.adaptive;
        if (cutoffs.empty()) {
            return;
        }
        require(std::adjacent_find(cutoffs.begin(), cutoffs.end(), std::greater_equal<>()) == cutoffs.end() &&
                    cutoffs.front() >= 1 && cutoffs.back() < config_.target_vocabulary,
                "output.adaptive.cutoffs",
                "must ascend from at least 1 to at most {}, one piece less than the vocabulary, found [{}]",
                config_.target_vocabulary - 1, fmt::join(cutoffs, ", "));
        std::int64_t width = config_.d_model;
        for (std::size_t i = 0; i < cutoffs.size(); ++i) {
            width /= factor;
        }
        require(width >= 1, "output.adaptive.factor",
                "{} would project d_model {} to nothing in cluster {}; a smaller one or fewer clusters are possible",
                factor, config_.d_model, cutoffs.size());
    }

    void classes() const {
        const std::vector<std::string>& labels = config_.output.labels;
        require(config_.output.head != OutputHead::Classes || labels.size() >= 2, "output.labels",
                "must name two classes at least, found {}", labels.size());
        require(config_.output.head != OutputHead::Labels || !labels.empty(), "output.labels",
                "must name one class at least");
        const std::set<std::string> distinct(labels.begin(), labels.end());
        require(distinct.size() == labels.size() && !distinct.contains(""), "output.labels",
                "must name different classes, found \"{}\"", fmt::join(labels, "\", \""));
    }

    void id(const char* key, std::int64_t id, std::int64_t vocabulary) const {
        require(id < vocabulary, key, "must be below {}, the size of the vocabulary, found {}", vocabulary, id);
    }

    void ids() const {
        const FrameConfig& f = config_.frame;
        for (const auto& [key, value] : {std::pair{"frame.pad_id", f.pad_id},
                                         {"frame.bos_id", f.bos_id},
                                         {"frame.eos_id", f.eos_id},
                                         {"frame.unk_id", f.unk_id},
                                         {"frame.mask_id", f.mask_id}}) {
            id(key, value, config_.target_vocabulary);
        }
        if (config_.architecture == Architecture::MaskedLm) {
            for (const auto& [key, value] : {std::pair{"frame.mask_id", f.mask_id}, {"frame.bos_id", f.bos_id}}) {
                require(value >= 0, key, "must be the id of a piece for \"masked-lm\", found {}", value);
            }
        }
        require(f.eos_id != f.pad_id, "frame.eos_id", "{} must differ from pad_id", f.eos_id);
        require(std::find(f.suppressed_ids.begin(), f.suppressed_ids.end(), f.eos_id) == f.suppressed_ids.end(),
                "frame.suppressed_ids", "must not contain eos_id {}: no output would end", f.eos_id);
    }

    // What stands around texts.
    void frame() const {
        const FrameConfig& f = config_.frame;
        bool any_language = false;
        const auto check = [&](const char* key, const std::vector<std::int32_t>& ids, std::int64_t vocabulary) {
            bool of_language = false;
            for (const std::int32_t one : ids) {
                id(key, one, vocabulary);
                of_language = of_language || one < 0;
            }
            for (const auto& [name, token] : f.languages) {
                id("frame.languages", of_language ? token : 0, vocabulary);
            }
            any_language = any_language || of_language;
        };
        check("frame.source_begin", f.source_begin, config_.source_vocabulary);
        check("frame.source_end", f.source_end, config_.source_vocabulary);
        check("frame.target_begin", f.target_begin, config_.target_vocabulary);
        check("frame.between", f.between, config_.target_vocabulary);
        check("frame.suppressed_ids", f.suppressed_ids, config_.target_vocabulary);
        require(!any_language || !f.languages.empty(), "frame.languages",
                "must name the languages that \"source_language\" and \"target_language\" stand for");
    }

    static const char* name_of(Tying tying) {
        return tying == Tying::All            ? "all"
               : tying == Tying::TargetOutput ? "target_output"
               : tying == Tying::Embeddings   ? "embeddings"
                                              : "none";
    }
    bool is_translator() const { return config_.architecture == Architecture::EncoderDecoder; }

    const Config& config_;
    const std::string& origin_;
};

}  // namespace

void check_combinations(const Config& config, const std::string& origin) {
    Checks(config, origin).all();
}

}  // namespace headscope
