// The loaded model drawn like the paper's Figure 1, and its position encodings.
#include <algorithm>

#include <fmt/format.h>

#include "figures/model_map.h"
#include "figures/sinusoid_drawing.h"
#include "figures/weights_drawing.h"
#include "model/description.h"
#include "paint/compose.h"
#include "support/counted.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

namespace {

using nlohmann::json;

constexpr double kNarrow = 50.0;  // text sizes

std::string missing_model(const Scene& scene) {
    return scene.main.model.has_value() ? "" : nothing_there(scene.main);
}

Drawing draw_model(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    const ModelConfig& config = scene.main.model->config;
    const bool narrow = options.width < kNarrow * options.text_size;
    std::vector<Drawing> parts;
    parts.push_back(draw_model_map(config, {.encoder_layer = shown_layer(scene.state, config.encoder_layers),
                                            .decoder_layer = shown_layer(scene.state, config.decoder_layers),
                                            .narrow = narrow,
                                            .look = look_of(options)}));
    if (const std::vector<WeightStatistics>* weights = shown_weights(scene)) {
        parts.push_back(draw_weights(scene.state.block, *weights, look_of(options)));
    }
    if (config.positions.kind == Positions::Sinusoid) {
        parts.push_back(draw_sinusoids(config, {.cell = narrow ? 0.25 : 0.5, .look = look_of(options)}));
    }
    return stacked(std::move(parts), 2.0 * options.text_size, options.ink);
}

// From the inputs up: embeddings, positions, layers, norms of the stacks, output.
json blocks_json(const ModelConfig& config) {
    std::vector<Block> blocks = describe(config).blocks;
    std::stable_partition(blocks.begin(), blocks.end(), [](const Block& block) { return block.layer > 0; });
    std::stable_partition(blocks.begin(), blocks.end(), [](const Block& b) {
        return b.kind == BlockKind::Positions || b.kind == BlockKind::RelativePositions;
    });
    std::stable_partition(blocks.begin(), blocks.end(), [](const Block& b) { return b.kind == BlockKind::Embedding; });
    json list = json::array();
    for (const Block& block : blocks) {
        if (block.parameters > 0) {
            list.push_back({{"prefix", block.prefix}, {"parameters", block.parameters}});
        }
    }
    return list;
}

json weights_json(const std::vector<WeightStatistics>& weights) {
    json list = json::array();
    for (const WeightStatistics& one : weights) {
        json shape = json::array();
        for (int dim = 0; dim < one.shape.rank(); ++dim) {
            shape.push_back(one.shape[dim]);
        }
        list.push_back({{"name", one.name},
                        {"shape", shape},
                        {"mean", one.mean},
                        {"deviation", one.deviation},
                        {"least", one.least},
                        {"greatest", one.greatest},
                        {"not_finite", one.not_finite},
                        {"limit", one.limit},
                        {"counts", one.counts}});
    }
    return list;
}

json model_numbers(const Scene& scene) {
    const Opened& model = *scene.main.model;
    json out = model_json(model);
    out["config"] = to_json(model.config);
    out["blocks"] = blocks_json(model.config);
    if (const std::vector<WeightStatistics>* weights = shown_weights(scene)) {
        out["block"] = scene.state.block;
        out["weights"] = weights_json(*weights);
    }
    return out;
}

std::string heads_text(const ModelConfig& config) {
    const std::int64_t decoder_heads = config.attention.decoder_heads;
    return decoder_heads > 0 ? both_stacks(config.attention.heads, decoder_heads) + " heads"
                             : counted(config.attention.heads, "head");
}

void model_controls(Controls& ui) {
    if (const auto& model = ui.scene().main.model; model.has_value()) {
        ui.heading(model->name);
        ui.remark(fmt::format("{:.1f} M parameters, {}, d_model {}", static_cast<double>(model->parameters) / 1e6,
                              heads_text(model->config), model->config.d_model));
        ui.remark(fmt::format("{}, {}", model->device, model->arithmetic));
    }
    if (ui.button("models", "Open another\u2026")) {
        ui.run("open");
    }
    ui.remark(
        "Figures 1 and 2 of the paper, with this model's shapes and parameter counts. Click a block for its weights, "
        "double-click an attention for its heads.");
    const std::vector<WeightStatistics>* weights = shown_weights(ui.scene());
    if (weights == nullptr) {
        return;
    }
    ui.heading(ui.state().block);
    for (const WeightStatistics& weight : *weights) {
        ui.remark(fmt::format("{}: {:.3g} \u00B1 {:.3g}", weight.name.substr(ui.state().block.size()), weight.mean,
                              weight.deviation),
                  "weights." + weight.name);
    }
}

// A click shows or hides the weights of a block; a double click opens the heads of an attention.
void model_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    const auto& model = ui.scene().main.model;
    if (!events.over_item() || !model.has_value()) {
        return;
    }
    ViewState& state = ui.state();
    const Block block = describe(model->config).blocks.at(static_cast<std::size_t>(events.hovered->item));
    ui.point_out();
    if (events.double_clicked && block.attention.has_value()) {
        if (state.kind != *block.attention) {
            state.word = state.key = -1;
        }
        state.kind = *block.attention;
        state.heads.clear();
        state.layer = block.layer;
        state.panel = PanelId::Figure;
    } else if (events.clicked) {
        state.layer = block.layer > 0 ? block.layer : state.layer;
        state.block = state.block == block.prefix ? "" : block.prefix;
    }
}

}  // namespace

const Panel kModelPanel{.id = PanelId::Model,
                        .title = "Model",
                        .missing = missing_model,
                        .draw = draw_model,
                        .numbers = model_numbers,
                        .pointable = {Role::Block, Role::Bar},
                        .fit_height = false,
                        .controls = model_controls,
                        .events = model_events};

}  // namespace headscope::viewer
