#include "experiment/layer_kinds.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"

namespace headscope {

const std::vector<LayerKind>& layer_kinds() {
    static const std::vector<LayerKind> kinds = {
        {.name = "self-attention",
         .title = "Self-Attention",
         .encoder = nlohmann::json::object(),
         .decoder = nlohmann::json::object(),
         .complexity = "n^2 d",
         .sequential = "1",
         .path = "1"},
    };
    return kinds;
}

std::vector<const LayerKind*> chosen_layer_kinds(const std::vector<std::string>& names) {
    std::vector<const LayerKind*> chosen;
    for (const LayerKind& kind : layer_kinds()) {
        if (names.empty()) {
            chosen.push_back(&kind);
        }
    }
    for (const std::string& name : names) {
        const auto found = std::find_if(layer_kinds().begin(), layer_kinds().end(),
                                        [&](const LayerKind& kind) { return name == kind.name; });
        if (found == layer_kinds().end()) {
            std::vector<std::string> known;
            for (const LayerKind& kind : layer_kinds()) {
                known.emplace_back(kind.name);
            }
            throw Error(fmt::format("there is no layer \"{}\"; there are {}", name, fmt::join(known, ", ")));
        }
        chosen.push_back(&*found);
    }
    return chosen;
}

ModelConfig with_layers(const ModelConfig& base, const nlohmann::json& layers) {
    nlohmann::json json = to_json(base);
    json.update(layers);
    const std::int64_t wanted = count_parameters(base);
    const auto with_width = [&](std::int64_t d_ff) {
        json["d_ff"] = d_ff;
        ModelConfig config = parse_model_config(json, "the layer's configuration");
        check_model_config(config, "the layer's configuration");
        return config;
    };
    // The number of parameters is linear in d_ff.
    const std::int64_t one = count_parameters(with_width(1));
    const std::int64_t each = count_parameters(with_width(2)) - one;
    const std::int64_t d_ff = 1 + (wanted - one + each / 2) / each;
    if (wanted < one) {
        throw Error(
            fmt::format("these layers have {} parameters without a feed-forward part, more than the {} of the "
                        "model to compare with: choose a larger \"d_ff\"",
                        one - each, wanted));
    }
    return with_width(d_ff);
}

}  // namespace headscope
