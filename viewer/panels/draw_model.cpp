// The loaded model drawn like the paper's Figure 1, and its position encodings.
#include <algorithm>

#include "figures/model_map.h"
#include "figures/sinusoid_drawing.h"
#include "figures/weights_drawing.h"
#include "paint/compose.h"
#include "viewer/panels/panels.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

Drawing draw_model(const Scene& scene, const PanelOptions& options) {
    if (!scene.main.model.has_value()) {
        return draw_remark(nothing_there(scene.main), options);
    }
    const ModelConfig& config = scene.main.model->config;
    std::vector<Drawing> parts;
    parts.push_back(draw_model_map(config, {.encoder_layer = shown_layer(scene.state, config.encoder_layers),
                                            .decoder_layer = shown_layer(scene.state, config.decoder_layers),
                                            .look = look_of(options)}));
    if (const std::vector<WeightStatistics>* weights = shown_weights(scene)) {
        parts.push_back(draw_weights(scene.state.block, *weights, look_of(options)));
    }
    if (config.positions.kind == Positions::Sinusoid) {
        parts.push_back(draw_sinusoids(config, {.look = look_of(options)}));
    }
    return stacked(std::move(parts), 2.0 * options.text_size, options.ink);
}

}  // namespace headscope::viewer
