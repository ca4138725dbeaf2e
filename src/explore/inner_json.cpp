#include "explore/inner_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

std::string bytes(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json texts(const std::vector<RecordedToken>& tokens) {
    Json list = Json::array();
    for (const RecordedToken& token : tokens) {
        list.push_back(token.text);
    }
    return list;
}

// One list for each prediction.
Json products(const EmbeddingGradients& gradients) {
    const std::vector<double> all = gradients.products();
    Json lists = Json::array();
    for (auto from = all.begin(); from != all.end(); from += gradients.tokens) {
        lists.push_back(std::vector<double>(from, from + gradients.tokens));
    }
    return lists;
}

Json layer_json(const Lens& lens, const LensLayer& layer, std::size_t number) {
    Json positions = Json::array();
    for (std::size_t i = 0; i < layer.steps.size(); ++i) {
        const ExploredStep& step = layer.steps[i];
        Json position{{"position", i + 1}};
        if (!lens.given[i].empty()) {
            position["rank"] = step.rank;
            position["probability"] = std::exp(step.log_probability);
        }
        Json candidates = Json::array();
        for (const NextCandidate& candidate : step.candidates) {
            candidates.push_back({{"piece", candidate.text}, {"probability", std::exp(candidate.log_probability)}});
        }
        position["candidates"] = std::move(candidates);
        positions.push_back(std::move(position));
    }
    return {{"layer", number}, {"site", layer.site}, {"positions", std::move(positions)}};
}

}  // namespace

std::string to_json(const Saliency& saliency) {
    Json json{{"predicted", saliency.predicted_texts}};
    if (!saliency.source.empty()) {
        json["source"] = texts(saliency.source);
        json["of_source"] = products(saliency.of_source);
    }
    json["target"] = texts(saliency.target);
    json["of_target"] = products(saliency.of_target);
    return bytes(json);
}

std::string to_json(const Lens& lens) {
    Json layers = Json::array();
    for (const LensLayer& layer : lens.layers) {
        layers.push_back(layer_json(lens, layer, layers.size()));
    }
    return bytes({{"text", texts(lens.tokens)}, {"given", lens.given}, {"layers", std::move(layers)}});
}

std::string to_json(const PatchEffects& found) {
    Json effects = Json::array();
    for (const PatchEffect& effect : found.effects) {
        effects.push_back({{"site", effect.site},
                           {"position", effect.position + 1},
                           {"piece", effect.token.text},
                           {"from", effect.from.text},
                           {"log_probability", effect.log_probability},
                           {"change", effect.log_probability - found.log_probability}});
    }
    return bytes({{"log_probability", found.log_probability},
                  {"from_log_probability", found.from_log_probability},
                  {"effects", std::move(effects)}});
}

}  // namespace headscope
