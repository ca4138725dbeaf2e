// The ways to write the keys of a model: in sections, with dots, and by their names in versions 1 and 2 of the format.
#include "model/model_keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/config_rows.h"
#include "support/check.h"

namespace headscope {

namespace {

using nlohmann::json;

// The keys of versions 1 and 2 that have another name today.
const std::map<std::string, std::string> kNames = {{"encoder_mixer", "mixer.encoder"},
                                                   {"decoder_mixer", "mixer.decoder"},
                                                   {"attention_window", "mixer.window"},
                                                   {"convolution_kernel", "mixer.convolution.kernel"},
                                                   {"convolution_dilation", "mixer.convolution.dilation"},
                                                   {"convolution_form", "mixer.convolution.form"},
                                                   {"convolution_glu", "mixer.convolution.glu"},
                                                   {"bidirectional", "mixer.bidirectional"},
                                                   {"heads", "attention.heads"},
                                                   {"decoder_heads", "attention.decoder_heads"},
                                                   {"d_k", "attention.d_k"},
                                                   {"d_v", "attention.d_v"},
                                                   {"attention_bias", "attention.bias"},
                                                   {"cross_attention", "attention.cross"},
                                                   {"d_ff", "feed_forward.d_ff"},
                                                   {"decoder_d_ff", "feed_forward.decoder_d_ff"},
                                                   {"activation", "feed_forward.activation"},
                                                   {"feed_forward_gate", "feed_forward.gate"},
                                                   {"feed_forward_bias", "feed_forward.bias"},
                                                   {"experts", "feed_forward.experts.count"},
                                                   {"experts_per_token", "feed_forward.experts.per_token"},
                                                   {"expert_capacity", "feed_forward.experts.capacity"},
                                                   {"norm", "norm.placement"},
                                                   {"norm_type", "norm.type"},
                                                   {"layer_norm_epsilon", "norm.epsilon"},
                                                   {"positions", "positions.kind"},
                                                   {"sinusoid_layout", "positions.layout"},
                                                   {"first_position", "positions.first"},
                                                   {"relative_positions", "positions.relative.kind"},
                                                   {"relative_buckets", "positions.relative.buckets"},
                                                   {"relative_distance", "positions.relative.distance"},
                                                   {"tying", "embedding.tying"},
                                                   {"scale_embedding", "embedding.scale"},
                                                   {"token_types", "embedding.token_types"},
                                                   {"scale_output", "output.scale"},
                                                   {"adaptive_factor", "output.adaptive.factor"},
                                                   {"output_bias", "output.bias"},
                                                   {"pad_id", "frame.pad_id"},
                                                   {"bos_id", "frame.bos_id"},
                                                   {"eos_id", "frame.eos_id"},
                                                   {"unk_id", "frame.unk_id"},
                                                   {"mask_id", "frame.mask_id"},
                                                   {"source_begin", "frame.source_begin"},
                                                   {"source_end", "frame.source_end"},
                                                   {"target_begin", "frame.target_begin"},
                                                   {"languages", "frame.languages"},
                                                   {"suppressed_ids", "frame.suppressed_ids"}};

// Version 2 allowed these where they have no meaning.
const std::set<std::string> kWithoutMeaning = {"convolution_kernel", "convolution_dilation", "convolution_form",
                                               "convolution_glu",    "sinusoid_layout",      "first_position",
                                               "relative_buckets",   "relative_distance",    "adaptive_factor"};

// A key of today that was two, of which either may be absent.
struct Joined {
    const char* key;
    std::array<const char*, 2> parts;
    json (*value)(ConfigReader& parts, const json& d_model);
};

// The name of `second`, which needs `first`, or of `first`, or "none".
json either(ConfigReader& parts, const char* first, const char* first_name, const char* second,
            const char* second_name) {
    const bool has_first = parts.boolean(first, false);
    if (!parts.boolean(second, false)) {
        return has_first ? first_name : "none";
    }
    if (!has_first) {
        parts.fail(second, fmt::format("must be false unless \"{}\" is true, found true", first));
    }
    return second_name;
}

const std::vector<Joined> kJoined = {
    {"attention.score",
     {"attention_score", "scale_attention"},
     [](ConfigReader& parts, const json&) -> json {
         const bool scaled = parts.boolean("scale_attention", true);
         if (parts.choice("attention_score", 0, {"dot_product", "additive"}) == 0) {
             return scaled ? "scaled_dot_product" : "dot_product";
         }
         if (!scaled) {
             parts.fail("scale_attention", "must be left out if \"attention_score\" is \"additive\", found false");
         }
         return "additive";
     }},
    {"embedding.norm",
     {"embedding_norm", "embedding_norm_first"},
     [](ConfigReader& parts, const json&) -> json {
         return either(parts, "embedding_norm", "last", "embedding_norm_first", "first");
     }},
    {"positions.columns",
     {"position_combination", "position_columns"},
     [](ConfigReader& parts, const json& d_model) -> json {
         const bool own = parts.choice("position_combination", 0, {"add", "concatenate"}) == 1;
         const std::int64_t half = own && d_model.is_number_integer() ? d_model.get<std::int64_t>() / 2 : 0;
         const std::int64_t columns = parts.integer("position_columns", half, 0, INT64_MAX);
         if (own != (columns > 0) && parts.has("position_columns")) {
             parts.fail("position_columns",
                        fmt::format("must {}be 0 {} \"position_combination\" is \"concatenate\", found {}",
                                    own ? "not " : "", own ? "if" : "unless", columns));
         }
         return columns;
     }},
    {"output.adaptive.cutoffs",
     {"output_layer", "adaptive_cutoffs"},
     [](ConfigReader& parts, const json&) -> json {
         const bool adaptive = parts.choice("output_layer", 0, {"full", "adaptive"}) == 1;
         const json& cutoffs = parts.list("adaptive_cutoffs");
         if (adaptive == cutoffs.empty()) {
             parts.fail("adaptive_cutoffs", adaptive ? "must not be [] if \"output_layer\" is \"adaptive\""
                                                     : "must be [] unless \"output_layer\" is \"adaptive\"");
         }
         return cutoffs;
     }},
    {"output.transform",
     {"output_transform", "gelu_transform"},
     [](ConfigReader& parts, const json&) -> json {
         return either(parts, "output_transform", "activation", "gelu_transform", "gelu");
     }},
};

// The key that `name` is a part of, or null.
const Joined* joined_from(const std::string& name) {
    const auto found = std::find_if(kJoined.begin(), kJoined.end(), [&](const Joined& one) {
        return std::ranges::find(one.parts, name) != one.parts.end();
    });
    return found == kJoined.end() ? nullptr : &*found;
}

// The keys in an object and in the objects in it, with dots between them, and their values.
void add_items(const json& object, const std::string& section, std::vector<std::pair<std::string, json>>& items) {
    constexpr std::ptrdiff_t kDeepest = 8;  // of an object that is no configuration
    for (const auto& [name, value] : object.items()) {
        const std::string key = section + name;
        const bool is_value =
            key == "frame.languages" || key == "languages" || std::count(key.begin(), key.end(), '.') >= kDeepest;
        if (value.is_object() && !is_value) {
            add_items(value, key + ".", items);
        } else {
            items.emplace_back(key, value);
        }
    }
}

// Takes the keys in `doubtful` away if this configuration has no use for them.
void forget_meaningless(const std::set<std::string>& doubtful, json& values, const std::string& origin,
                        const std::string& section) {
    json certain = values;
    for (const std::string& key : doubtful) {
        certain.erase(key);
    }
    ModelConfig config;
    ConfigReader reader(certain, origin, section);
    read_fields(model_fields(), reader, config);
    // Version 2 ignored a first position only where there were no positions.
    const bool counts = config.positions.kind != Positions::None;
    for (const ConfigField<ModelConfig>& field : model_fields()) {
        if (doubtful.contains(field.key) && field.missing(config) != nullptr &&
            !(counts && field.key == "positions.first")) {
            ConfigReader forgotten(values, origin, section);
            ModelConfig unused;
            field.read(forgotten, unused);  // Error for a value that the key never accepts
            values.erase(field.key);
        }
    }
}

}  // namespace

std::string model_key_of_today(const std::string& key) {
    if (const Joined* joined = joined_from(key)) {
        throw Error(fmt::format("\"model.{}\" is a part of \"model.{}\" since version 3: give that key instead", key,
                                joined->key));
    }
    const auto renamed = kNames.find(key);
    return renamed == kNames.end() ? key : renamed->second;
}

json flat_model_keys(const json& object, const std::string& origin, const std::string& section) {
    const ConfigReader given(object, origin, section);
    json values = json::object();
    json parts = json::object();
    std::set<std::string> doubtful;
    const auto set = [&](const std::string& key, const json& value) {
        if (values.contains(key)) {
            given.fail(key, "is given twice: once is enough, in its section, with dots or by its old name");
        }
        values[key] = value;
    };
    std::vector<std::pair<std::string, json>> items;
    add_items(object, "", items);
    for (const auto& [name, value] : items) {
        const auto renamed = kNames.find(name);
        if (joined_from(name) != nullptr) {
            parts[name] = value;
        } else if (renamed == kNames.end()) {
            set(name, value);
        } else {
            set(renamed->second, value);
            if (kWithoutMeaning.contains(name)) {
                doubtful.insert(renamed->second);
            }
        }
    }
    ConfigReader reader(parts, origin, section);
    for (const Joined& one : kJoined) {
        if (parts.contains(one.parts[0]) || parts.contains(one.parts[1])) {
            set(one.key, one.value(reader, values.value("d_model", json(ModelConfig{}.d_model))));
        }
    }
    if (!doubtful.empty()) {
        forget_meaningless(doubtful, values, origin, section);
    }
    return values;
}

json flat_model_keys(const ModelConfig& config) {
    return write_fields(model_fields(), config);
}

json to_json(const ModelConfig& config) {
    json object = {{"format_version", ModelConfig::kFormatVersion}};
    for (const ConfigField<ModelConfig>& field : model_fields()) {
        if (field.missing(config) == nullptr) {
            std::string path = "/" + field.key;
            std::replace(path.begin(), path.end(), '.', '/');
            object[json::json_pointer(path)] = field.write(config);
        }
    }
    return object;
}

}  // namespace headscope
