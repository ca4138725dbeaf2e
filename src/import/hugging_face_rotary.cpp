#include "import/hugging_face_rotary.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headscope {

namespace {

using nlohmann::json;

// A factor of at least 1; a problem for anything else.
double factor_of(const ForeignConfig& rope) {
    const double factor = rope.number("factor", 0.0);
    if (factor < 1.0) {
        rope.problem("factor", rope.has("factor") ? fmt::format("must be at least 1, found {}", factor) : "is missing");
        return 1.0;
    }
    return factor;
}

// YaRN's paper, or DeepSeek's two factors of it.
double yarn_magnitude(const ForeignConfig& rope, double factor) {
    const auto of = [&](const char* key) {
        return factor <= 1.0 ? 1.0 : 0.1 * rope.number(key, 1.0) * std::log(factor) + 1.0;
    };
    const bool both = rope.number("mscale", 0.0) != 0.0 && rope.number("mscale_all_dim", 0.0) != 0.0;
    return rope.number("attention_factor", both ? of("mscale") / of("mscale_all_dim") : of(""));
}

void read_yarn(const ForeignConfig& rope, RotaryConfig& rotary) {
    rotary.kind = Rotary::Yarn;
    rotary.factor = factor_of(rope);
    rotary.low = rope.number("beta_slow", 1.0);
    rotary.high = rope.number("beta_fast", 32.0);
    rotary.magnitude = yarn_magnitude(rope, rotary.factor);
    rope.require("truncate", true);
}

void read_llama3(const ForeignConfig& rope, RotaryConfig& rotary) {
    rotary.kind = Rotary::Llama3;
    rotary.factor = factor_of(rope);
    rotary.low = rope.number("low_freq_factor", 1.0);
    rotary.high = rope.number("high_freq_factor", 4.0);
}

// The share of the columns that turn; a problem for one that the family does not have.
double share_of(const ForeignConfig& config, const char* key, bool partial, double fallback) {
    const double share = config.number(key, fallback);
    if (!partial && share != 1.0) {
        config.problem(key, fmt::format("is {}: only 1 is supported for this family, as in transformers", share));
        return 1.0;
    }
    if (!(share > 0.0 && share <= 1.0)) {
        config.problem(key, fmt::format("must be above 0 and at most 1, found {}", share));
        return 1.0;
    }
    return share;
}

// The length before it was extended: `whole` is what the whole configuration says, 0 if nothing.
std::int64_t original_length_of(const ForeignConfig& rope, std::int64_t whole, std::int64_t max_length) {
    constexpr const char* kKey = "original_max_position_embeddings";
    const std::int64_t own = rope.integer(kKey, whole > 0 ? whole : max_length, 1);
    if (whole > 0 && whole != own) {
        rope.problem(kKey,
                     fmt::format("is {}, but \"{}\" of the whole file is {}: they must be equal", own, kKey, whole));
    }
    return own;
}

void read_scaling(const ForeignConfig& rope, std::int64_t original_length, std::int64_t max_length,
                  RotaryConfig& rotary) {
    const char* const key = rope.has("type") && !rope.has("rope_type") ? "type" : "rope_type";
    const std::string older = rope.text("type", "default");
    const std::string kind = rope.text("rope_type", older);
    if (kind == "default") {
        rotary.kind = Rotary::Plain;
    } else if (kind == "linear") {
        rotary.kind = Rotary::Linear;
        rotary.factor = factor_of(rope);
    } else if (kind == "yarn" || kind == "llama3") {
        rotary.original_length = original_length_of(rope, original_length, max_length);
        (kind == "yarn" ? read_yarn : read_llama3)(rope, rotary);
    } else {
        rope.problem(key, fmt::format("is \"{}\": only default, linear, yarn and llama3 are supported", kind));
        return;
    }
    for (const std::string& unknown : rope.unknown_keys({})) {
        rope.problem(unknown, fmt::format("is not supported with \"{}\": \"{}\"", key, kind));
    }
}

constexpr const char* kOlder = "rope_scaling";
constexpr const char* kNewer = "rope_parameters";

// The object of rotary positions, and its key. A problem if there are two different ones.
std::pair<const char*, json> rope_of(const ForeignConfig& config) {
    const json& older = config.at(kOlder);
    const json& newer = config.at(kNewer);
    if (!older.empty() && !newer.empty() && older != newer) {
        config.problem(kOlder, fmt::format("differs from \"{}\": keep one of them", kNewer));
    }
    return newer.empty() ? std::pair{kOlder, older.empty() ? json::object() : older} : std::pair{kNewer, newer};
}

// 1 for the layers with a window, 0 for the others, as "layer_types" says, which must be there.
std::vector<std::int32_t> stated_layers(const ForeignConfig& config, int layers) {
    std::vector<std::int32_t> pattern;
    for (const json& type : config.at("layer_types")) {
        pattern.push_back(type == "sliding_attention" ? 1 : 0);
        if (type != "sliding_attention" && type != "full_attention") {
            config.problem(
                "layer_types",
                fmt::format("holds {}: only \"full_attention\" and \"sliding_attention\" are supported", type.dump()));
        }
    }
    if (std::ssize(pattern) != layers) {
        config.problem("layer_types", fmt::format("has {} entries for {} layers", pattern.size(), layers));
    }
    return pattern;
}

// Those of a family whose layers with a window turn apart: of the other layers, after the base of the former is set.
std::pair<std::string, json> rope_of_types(const ForeignConfig& config, Problems& problems, double window_base,
                                           RotaryConfig& rotary) {
    constexpr const char* kWindowed = "sliding_attention";
    constexpr const char* kOther = "full_attention";
    rotary.window_base = config.number("rope_local_base_freq", window_base);
    const auto [key, object] = rope_of(config);
    if (key != std::string(kNewer) || !object.is_object()) {
        return {key, object};
    }
    const auto origin = [&](const char* type) { return fmt::format("{}\": \"{}", kNewer, type); };
    const ForeignConfig types(object, fmt::format("{}: \"{}\"", config.file(), kNewer), problems);
    const json& windowed = types.at(kWindowed);
    const json& other = types.at(kOther);
    for (const std::string& unknown : types.unknown_keys({})) {
        types.problem(unknown, fmt::format("is not supported: only \"{}\" and \"{}\" are", kOther, kWindowed));
    }
    if (!windowed.is_null()) {
        const ForeignConfig own(windowed, fmt::format("{}: \"{}\"", config.file(), origin(kWindowed)), problems);
        own.require("rope_type", "default");
        rotary.window_base = own.number("rope_theta", rotary.window_base);
        for (const std::string& unknown : own.unknown_keys({})) {
            own.problem(unknown, "is not supported");
        }
    }
    return {origin(kOther), other.is_null() ? json::object() : other};
}

}  // namespace

void read_windows(const ForeignConfig& config, const WindowRules& rules, ModelConfig& net) {
    const std::int64_t stated =
        config.is_null("sliding_window") ? 0 : config.integer("sliding_window", rules.window, 1);
    const std::int64_t window = rules.used ? stated : 0;
    const bool by_type = config.has("layer_types");
    const std::vector<std::int32_t> pattern = by_type ? stated_layers(config, net.decoder_layers) : rules.layers;
    const bool any = std::ranges::find(pattern, 1) != pattern.end();
    const bool all = std::ranges::find(pattern, 0) == pattern.end();
    if (by_type && rules.all_alike && (window > 0 ? !all : any)) {
        config.problem("layer_types",
                       "is not what \"sliding_window\" says of all layers, which decides in this family");
    } else if (by_type && any && window == 0) {
        config.problem(rules.used ? "sliding_window" : "use_sliding_window",
                       fmt::format("is {}, but \"layer_types\" has layers with a window",
                                   rules.used ? "null or missing" : "false or missing"));
    }
    if (any && window > 0 && (window < net.max_length || rules.turn_apart)) {
        net.mixer.decoder = MixerKind::Restricted;
        net.mixer.window = window;
        net.mixer.window_pattern = all ? std::vector<std::int32_t>{} : pattern;
    }
}

void read_rotary(const ForeignConfig& config, Problems& problems, const RotaryRules& rules, ModelConfig& net) {
    RotaryConfig& rotary = net.positions.rotary;
    const bool apart = rules.window_base > 0.0;
    const auto [key, object] = apart ? rope_of_types(config, problems, rules.window_base, rotary)
                                     : std::pair<std::string, json>(rope_of(config));
    if (net.mixer.decoder != MixerKind::Restricted) {
        rotary.window_base = 0.0;
    }
    const ForeignConfig rope(object, fmt::format("{}: \"{}\"", config.file(), key), problems);
    rotary.base = rope.number("rope_theta", config.number(rules.base_key, rules.base));
    const double whole = share_of(config, rules.share_key, rules.partial, rules.share);
    const double share = share_of(rope, "partial_rotary_factor", rules.partial, whole);
    const auto columns = static_cast<std::int64_t>(static_cast<double>(net.attention.d_k) * share);
    rotary.columns = columns == net.attention.d_k ? 0 : columns;
    if (columns < 1) {
        rope.problem("partial_rotary_factor",
                     fmt::format("is {}, which turns no column of {}", share, net.attention.d_k));
    }
    read_scaling(rope, config.integer("original_max_position_embeddings", 0, 1), net.max_length, rotary);
}

}  // namespace headscope
