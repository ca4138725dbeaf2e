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

// What one kind of layers has; `whole` is what the whole configuration says, with the share of the columns.
RotaryConfig rotary_of(const ForeignConfig& rope, const RotaryConfig& whole, double share, std::int64_t d_k) {
    RotaryConfig rotary;
    rotary.base = rope.number("rope_theta", whole.base);
    share = rope.number("partial_rotary_factor", share);
    const auto columns = static_cast<std::int64_t>(static_cast<double>(d_k) * share);
    rotary.columns = columns == d_k ? 0 : columns;
    if (columns < 1) {
        rope.problem("partial_rotary_factor", fmt::format("is {}, which turns no column of {}", share, d_k));
    }
    const char* const key = rope.has("rope_type") ? "rope_type" : "type";
    const std::string older = rope.text("type", "default");
    const std::string kind = rope.text("rope_type", older);
    if (kind == "default") {
        rotary.kind = Rotary::Plain;
    } else if (kind == "linear") {
        rotary.kind = Rotary::Linear;
        rotary.factor = factor_of(rope);
    } else if (kind == "yarn" || kind == "llama3") {
        rotary.original_length = rope.integer("original_max_position_embeddings", whole.original_length, 1);
        (kind == "yarn" ? read_yarn : read_llama3)(rope, rotary);
    } else {
        rope.problem(key, fmt::format("is \"{}\": only default, linear, yarn and llama3 are supported", kind));
        return rotary;
    }
    for (const std::string& unknown : rope.unknown_keys({})) {
        rope.problem(unknown, fmt::format("is not supported with \"{}\": \"{}\"", key, kind));
    }
    return rotary;
}

std::vector<std::int32_t> windowed_layers(const ForeignConfig& config, const std::vector<std::int32_t>& usual,
                                          int layers) {
    const json& types = config.at("layer_types");
    if (types.is_null()) {
        return usual;
    }
    std::vector<std::int32_t> pattern;
    for (const json& type : types) {
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

}  // namespace

void read_windows(const ForeignConfig& config, const WindowDefaults& defaults, ModelConfig& net) {
    const std::int64_t window =
        config.is_null("sliding_window") ? 0 : config.integer("sliding_window", defaults.window, 1);
    const std::vector<std::int32_t> pattern = windowed_layers(config, defaults.layers, net.decoder_layers);
    const bool any = std::ranges::find(pattern, 1) != pattern.end();
    if (!defaults.used || !any) {
        return;
    }
    if (window == 0 && config.has("layer_types")) {
        config.problem("sliding_window", "is missing, but \"layer_types\" has layers with a window");
    }
    if (window > 0 && window < net.max_length) {
        const bool all = std::ranges::find(pattern, 0) == pattern.end();
        net.mixer.decoder = MixerKind::Restricted;
        net.mixer.window = window;
        net.mixer.window_pattern = all ? std::vector<std::int32_t>{} : pattern;
    }
}

void read_rotary(const ForeignConfig& config, Problems& problems, double base, ModelConfig& net) {
    const RotaryConfig whole{.base = config.number("rope_theta", base),
                             .original_length = config.integer("original_max_position_embeddings", net.max_length, 1)};
    const double share = config.number("partial_rotary_factor", 1.0);
    const json& newer = config.at("rope_parameters");
    const json& older = config.at("rope_scaling");
    const char* const key = newer.is_null() ? "rope_scaling" : "rope_parameters";
    const json object = !newer.is_null() ? newer : !older.is_null() ? older : json::object();
    const auto read = [&](const json& one, const std::string& name) {
        const ForeignConfig rope(one, fmt::format("{}: \"{}\"", config.file(), name), problems);
        return rotary_of(rope, whole, share, net.attention.d_k);
    };
    if (!object.is_object() || !object.contains("full_attention")) {
        net.positions.rotary = read(object, key);
        return;
    }
    net.positions.rotary = read(object["full_attention"], fmt::format("{}.full_attention", key));
    if (net.mixer.decoder != MixerKind::Restricted || !object.contains("sliding_attention")) {
        return;
    }
    const RotaryConfig windowed = read(object["sliding_attention"], fmt::format("{}.sliding_attention", key));
    RotaryConfig plain = net.positions.rotary;
    if (windowed == plain) {
        return;
    }
    if (windowed.kind != Rotary::Plain || windowed.columns != plain.columns || plain.magnitude != 1.0) {
        config.problem(key,
                       "has layers with a window whose rotary positions differ from the others' in more than "
                       "\"rope_theta\" and a scaling that they lack");
    }
    net.positions.rotary.window_base = windowed.base;
}

}  // namespace headscope
