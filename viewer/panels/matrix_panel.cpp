// One head as a matrix, and equation 1 for the selected word.
#include <algorithm>

#include "figures/heat_map.h"
#include "figures/neuron_drawing.h"
#include "observe/derived_records.h"
#include "paint/compose.h"
#include "support/check.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

AttentionRecord matrix_record(const Scene& scene, const AttentionRecord& record) {
    switch (scene.state.matrix) {
        case MatrixView::Head: return record;
        case MatrixView::HeadMean: return mean_of_heads(record);
        case MatrixView::LayerMean: return mean_of_layers(record);
        case MatrixView::Rollout: return rollout(record);
    }
    return record;
}

namespace {

using nlohmann::json;

// The heat map of the first visible head. Its marks hold `item`, the index into contents().
Drawing draw_map(const Scene& scene, const AttentionRecord& record, int item, const PanelOptions& options) {
    const SelectedAttention content = select_attention(record, word_selection_of(scene, record));
    const HeatMapOptions map{.scale = scene.state.logarithmic ? Scale::Logarithmic : Scale::Linear,
                             .look = look_of(options)};
    Drawing drawing = draw_heat_map(content, content.heads.front(), map);
    for (Primitive& primitive : drawing.primitives) {
        primitive.mark.item = item;
    }
    return drawing;
}

// The row of the chosen patch or word, of the first visible head or of what was computed.
Drawing draw_row_on_picture(const Scene& scene, const AttentionRecord& record, const PanelOptions& options) {
    SelectedAttention content = select_attention(record, word_selection_of(scene, record));
    content.heads.resize(1);
    PatchMap map = map_of(scene.main, content, shown_kind(scene), options);
    if (!record.derived.empty() && map.tiles.size() == 1) {
        map.tiles.front().label = record.derived;
    } else if (!record.derived.empty()) {
        map.note = record.derived;
    }
    return draw_map_of_patches(map, options);
}

// A mean or rollout is no head's attention, so the unchanged head is drawn next to it.
Drawing draw_matrix(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    const AttentionRecord& record = scene.main.shown->record;
    const bool computed = scene.state.matrix != MatrixView::Head;
    std::vector<Drawing> maps{draw_map(scene, record, 0, options)};
    if (computed) {
        maps.push_back(draw_map(scene, matrix_record(scene, record), 1, options));
    }
    const double gap = 2.0 * options.text_size;
    std::vector<Drawing> parts{side_by_side(std::move(maps), gap, options.ink)};
    if (shows_patches(scene)) {
        Drawing row = draw_row_on_picture(scene, matrix_record(scene, record), options);
        constexpr double kMostShrunk = 1.25;  // by the window
        if (parts.front().width + gap + row.width <= kMostShrunk * options.width) {
            parts = {side_by_side({std::move(parts.front()), std::move(row)}, gap, options.ink)};
        } else {
            parts.push_back(std::move(row));
        }
    }
    if (!computed) {
        parts.push_back(draw_neuron(scene, options));
    }
    return stacked(std::move(parts), gap, options.ink);
}

json neuron_json(const NeuronView& neuron, const NeuronRow& row) {
    const auto numbers = [&](const std::vector<float>& all, std::int64_t at) {
        const auto first = all.begin() + at * neuron.d_k;
        return json(std::vector<float>(first, first + neuron.d_k));
    };
    json view = site_json(neuron.site, neuron.head);
    view["scale"] = neuron.scale;
    view["query"] = row.query;
    view["q"] = numbers(neuron.q, row.query);
    for (int key = 0; key < neuron.keys; ++key) {
        view["keys"].push_back({{"k", numbers(neuron.k, key)},
                                {"sum", dot_product(neuron, row.query, key)},
                                {"weight", row.weights[static_cast<std::size_t>(key)]}});
    }
    return view;
}

json matrix_numbers(const Scene& scene) {
    json out = figure_json(scene, matrix_record(scene, scene.main.shown->record));
    if (scene.state.matrix != MatrixView::Head) {
        out["raw"] = figure_numbers(scene);
    }
    if (const std::optional<NeuronRow> row = neuron_row(scene); row.has_value()) {
        out["neuron"] = neuron_json(*shown_neuron(scene), *row);
    }
    return out;
}

SelectedAttention content_of(const Scene& scene, const AttentionRecord& record) {
    return select_attention(record, selection_of(scene, record));
}

std::string matrix_table(const Scene& scene) {
    const SelectedAttention content = content_of(scene, matrix_record(scene, scene.main.shown->record));
    return to_tsv(content, content.heads.front());
}

std::vector<SelectedAttention> matrix_contents(const Scene& scene) {
    if (!missing_attention(scene, scene.main).empty()) {
        return {};
    }
    const AttentionRecord& record = scene.main.shown->record;
    std::vector<SelectedAttention> contents{content_of(scene, record)};
    if (scene.state.matrix != MatrixView::Head) {
        contents.push_back(content_of(scene, matrix_record(scene, record)));
    }
    return contents;
}

// The matrix cell at a point, also if its weight is too faint to be drawn.
std::optional<Mark> cell_at(const Scene& scene, const Drawing& drawing, Point at) {
    if (scene.main.shown == nullptr || !scene.main.shown->problem.empty()) {
        return std::nullopt;
    }
    const auto rows = static_cast<double>(words_of(scene, Direction::From));
    const auto columns = static_cast<double>(words_of(scene, Direction::To));
    for (const Primitive& primitive : drawing.primitives) {
        const auto* frame = std::get_if<Rect>(&primitive.shape);
        // Frames of the neuron view have no head.
        if (primitive.mark.role != Role::Frame || frame == nullptr || primitive.mark.head == 0) {
            continue;
        }
        const double across = (at.x - frame->x) / frame->width;
        const double down = (at.y - frame->y) / frame->height;
        if (across >= 0.0 && across < 1.0 && down >= 0.0 && down < 1.0) {
            return Mark{.role = Role::Cell,
                        .head = primitive.mark.head,
                        .query = static_cast<int>(down * rows),
                        .key = static_cast<int>(across * columns),
                        .item = primitive.mark.item};
        }
    }
    return std::nullopt;
}

void copy_matrix(Controls& ui) {
    try {
        ui.copy(panel_tsv(ui.scene(), PanelId::Matrix));
        ui.session.notify("Copied the matrix");
    } catch (const Error& error) {  // there is none yet
        ui.session.report_error(error.what());
    }
}

void matrix_controls(Controls& ui) {
    ViewState& state = ui.state();
    if (!has_heads(ui)) {
        return;
    }
    attention_choice(ui);
    ui.heading("Shown");
    ui.choice("matrix", state.matrix, {"Head", "Mean of heads", "Mean of layers", "Rollout"});
    if (state.matrix != MatrixView::Head) {
        ui.remark("Computed from weights: not what any one head looked at.");
    }
    ui.heading("Scale");
    ui.choice("scale", state.logarithmic, {"Linear", "Logarithmic"});
    row_toggles(ui);
    if (ui.button("copy", "Copy as TSV", "The exact weights, for a spreadsheet")) {
        copy_matrix(ui);
    }
    ui.remark(state.matrix == MatrixView::Head
                  ? "Click a cell: its query and key are multiplied out below, as equation 1 says."
                  : "Choose Head to multiply out a cell's query and key, as equation 1 says.",
              "matrix.remark");
}

void matrix_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    ViewState& state = ui.state();
    const bool multiplies = state.matrix == MatrixView::Head;  // a mean has no query and key
    if (multiplies && events.clicked && events.hovered.has_value() && events.hovered->query >= 0) {
        const bool same = state.word == events.hovered->query && state.key == events.hovered->key;
        state.direction = Direction::From;
        state.word = same ? -1 : events.hovered->query;
        state.key = same ? -1 : events.hovered->key;
    }
}

}  // namespace

const Panel kMatrixPanel{.id = PanelId::Matrix,
                         .title = "Matrix",
                         .unfit = no_attention,
                         .missing = missing_figure,
                         .draw = draw_matrix,
                         .numbers = matrix_numbers,
                         .table = matrix_table,
                         .contents = matrix_contents,
                         .forget_unseen = forget_input,
                         .pointable = {Role::Cell, Role::QueryLabel, Role::KeyLabel, Role::Legend},
                         .elsewhere = cell_at,
                         .controls = matrix_controls,
                         .events = matrix_events};

}  // namespace headscope::viewer
