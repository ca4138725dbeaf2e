// What is behind the output: saliency, the logit lens, patching from another text, and the vectors of words.
#include <array>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "explore/inner_json.h"
#include "figures/inside_maps.h"
#include "figures/lens_drawing.h"
#include "figures/vector_map.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

namespace {

Drawing draw_vectors(const SeenVectors& found, const VectorOptions& options, const Look& look) {
    const char* units = options.unit == VectorUnit::Word ? "Words" : "Pieces";
    return draw_vector_map(found.plane, found.labels,
                           fmt::format("{} after layer {}", units, options.layer.value_or(0)), look, found.of_first);
}

std::string to_json(const SeenVectors& found) {
    nlohmann::json list = nlohmann::json::array();
    for (std::size_t i = 0; i < found.labels.size(); ++i) {
        list.push_back({{"text", found.labels[i]},
                        {"of", i < found.of_first ? 1 : 2},
                        {"x", found.plane.places[i][0]},
                        {"y", found.plane.places[i][1]}});
    }
    return nlohmann::json{{"vectors", list}, {"shares", found.plane.shares}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <InsideView kView>
constexpr auto kUnfit = kView == InsideView::Lens ? no_writing : no_text;

template <InsideView kView>
std::string missing_inside(const Scene& scene) {
    if (const std::string nothing = nothing_there(scene.main); !nothing.empty()) {
        return nothing;
    }
    if (std::string why = kUnfit<kView>(scene); !why.empty()) {
        return why;
    }
    if (kView == InsideView::Patching && scene.state.second.empty()) {
        return "Type another text to the right: its values are put into the pass over the first, one at a time.";
    }
    const SeenInside* seen = shown_inside(scene, kView);
    return seen == nullptr ? "Computing \u2026"
                           : std::visit([](const auto& found) { return found.problem; }, seen->found);
}

// Tooltips are stored, since these maps are small.
template <InsideView kView>
Drawing draw_inside(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    Look look = look_of(options);
    look.tips = true;
    const SeenInside& seen = *shown_inside(scene, kView);
    struct Draw {
        const Scene& scene;
        const SeenInside& seen;
        const Look& look;
        Drawing operator()(const Saliency& found) const {
            return draw_saliency(found, {.join_words = scene.state.join_words}, look);
        }
        Drawing operator()(const Lens& found) const { return draw_lens(found, look); }
        Drawing operator()(const PatchEffects& found) const { return draw_patching(found, look); }
        Drawing operator()(const SeenVectors& found) const { return draw_vectors(found, seen.of.vectors, look); }
    };
    return std::visit(Draw{scene, seen, look}, seen.found);
}

template <InsideView kView>
nlohmann::json inside_numbers(const Scene& scene) {
    return nlohmann::json::parse(
        std::visit([](const auto& found) { return to_json(found); }, shown_inside(scene, kView)->found));
}

// The rows differ in these.
template <InsideView kView>
Panel inside_panel(PanelId id, const char* title, const char* keys, void (*controls)(Controls&)) {
    return {.id = id,
            .title = title,
            .keys = keys,
            .unfit = kUnfit<kView>,
            .missing = missing_inside<kView>,
            .draw = draw_inside<kView>,
            .numbers = inside_numbers<kView>,
            .follows_pointer = false,
            .pointable = {Role::Cell, Role::Point},
            .controls = controls};
}

void saliency_controls(Controls& ui) {
    pieces_toggle(ui);
    ui.remark(
        "How much the log probability of each written piece would change with the embedding of each word that was "
        "read before it: its gradient times the embedding. Attention shows where a head reads from; this is what "
        "the whole model makes of it, to first order.");
}

void lens_controls(Controls& ui) {
    ui.remark(
        "The last norm and the output projection, applied after every layer: when does the model know what it will "
        "write? Point at a cell for its likeliest pieces. Layers before the last were not trained for this, so that "
        "early rows are often words of other places.");
}

void vectors_controls(Controls& ui) {
    if (const auto& model = ui.scene().main.model; model.has_value()) {
        layer_stepper(ui, last_vector_layer(model->config));
    }
    pieces_toggle(ui);
    ui.heading("Beside");
    ui.edit("second", "another text", ui.state().second);
    ui.remark(
        "What the model makes of each word: its state after this layer, on the plane in which these vectors differ the "
        "most (principal components). Near points are alike to the model. Type another text with some of the words to "
        "see what their context does to them, and go through the layers.");
}

void patching_controls(Controls& ui) {
    ui.heading("Values from");
    ui.edit("second", "another text", ui.state().second);
    ui.remark(
        "The model reads the text above and its output. Then, for each layer and each position, the residual stream "
        "there is replaced by that of this text: the map shows what that does to the log probability of the output. "
        "Choose a text of as many words that differs in one.");
}

}  // namespace

const Panel kSaliencyPanel =
    inside_panel<InsideView::Saliency>(PanelId::Saliency, "Saliency", "Ctrl+I", saliency_controls);
const Panel kLensPanel = inside_panel<InsideView::Lens>(PanelId::Lens, "Logit lens", "Ctrl+G", lens_controls);
const Panel kPatchingPanel =
    inside_panel<InsideView::Patching>(PanelId::Patching, "Patching", "Ctrl+J", patching_controls);
const Panel kVectorsPanel = inside_panel<InsideView::Vectors>(PanelId::Vectors, "Vectors", "Ctrl+U", vectors_controls);

}  // namespace headscope::viewer
