#include "experiment/layer_kinds.h"

#include <utility>

#include <fmt/format.h>

#include "experiment/chosen_by_name.h"
#include "support/check.h"

namespace headscope {
namespace {

struct Paper {
    const char* complexity;
    const char* sequential;
    const char* path;
};

LayerKind kind(const char* name, const char* title, const char* mixer, nlohmann::json keys, const Paper& paper) {
    LayerKind made{.name = name,
                   .title = title,
                   .encoder = keys.is_null() ? nlohmann::json::object() : std::move(keys),
                   .decoder = {},
                   .complexity = paper.complexity,
                   .sequential = paper.sequential,
                   .path = paper.path};
    made.decoder = made.encoder;
    made.encoder["mixer.encoder"] = mixer;
    made.decoder["mixer.decoder"] = mixer;
    return made;
}

LayerKind with_whole_kernel(LayerKind kind) {
    kind.whole_kernel = true;
    return kind;
}

nlohmann::json with_kernel(nlohmann::json keys, const LayerKind& kind, std::int64_t kernel) {
    if (kind.whole_kernel) {
        keys["mixer.convolution.kernel"] = kernel;
    }
    return keys;
}

}  // namespace

nlohmann::json encoder_keys(const LayerKind& kind, std::int64_t length) {
    return with_kernel(kind.encoder, kind, length + 1 - length % 2);
}

nlohmann::json decoder_keys(const LayerKind& kind, std::int64_t length) {
    return with_kernel(kind.decoder, kind, length);
}

const std::vector<LayerKind>& layer_kinds() {
    static const std::vector<LayerKind> kinds = {
        kind("self-attention", "Self-Attention", "self_attention", {}, {"n^2 d", "1", "1"}),
        kind("restricted", "Self-Attention, r = 16", "restricted", {{"mixer.window", 16}}, {"r n d", "1", "n / r"}),
        kind("lstm", "Recurrent, LSTM", "lstm", {}, {"n d^2", "n", "n"}),
        kind("gru", "Recurrent, GRU", "gru", {}, {"n d^2", "n", "n"}),
        kind("convolution", "Convolution, k = 3", "convolution", {{"mixer.convolution.glu", false}},
             {"k n d^2", "1", "n / k"}),
        kind("dilated", "Convolution, dilated by 2", "convolution",
             {{"mixer.convolution.glu", false}, {"mixer.convolution.dilation", 2}}, {"k n d^2", "1", "log n"}),
        kind("separable", "Convolution, separable", "convolution",
             {{"mixer.convolution.glu", false}, {"mixer.convolution.form", "separable"}},
             {"k n d + n d^2", "1", "n / k"}),
        with_whole_kernel(kind("separable-n", "Convolution, separable, k = n", "convolution",
                               {{"mixer.convolution.glu", false}, {"mixer.convolution.form", "separable"}},
                               {"n^2 d + n d^2", "1", "1"})),
    };
    return kinds;
}

std::vector<const LayerKind*> chosen_layer_kinds(const std::vector<std::string>& names) {
    return chosen_by_name(layer_kinds(), names, "layer");
}

ModelConfig with_layers(const nlohmann::json& base, const nlohmann::json& layers) {
    const auto parsed = [](const nlohmann::json& json) {
        const char* origin = "the layer's configuration";
        ModelConfig config = parse_model_config(json, origin);
        check_model_config(config, origin);
        return config;
    };
    nlohmann::json json = flat_model_keys(base, "the base");
    json.update(layers);
    const auto with_width = [&](std::int64_t d_ff) {
        json["feed_forward.d_ff"] = d_ff;
        return parsed(json);
    };
    const std::int64_t wanted = count_parameters(parsed(base));
    // The number of parameters is linear in d_ff.
    const std::int64_t one = count_parameters(with_width(1));
    const std::int64_t each = count_parameters(with_width(2)) - one;
    if (wanted < one) {
        throw Error(
            fmt::format("these layers have {} parameters without a feed-forward part, more than the {} of the "
                        "model to compare with: choose a larger \"feed_forward.d_ff\"",
                        one - each, wanted));
    }
    return with_width(1 + (wanted - one + each / 2) / each);
}

}  // namespace headscope
