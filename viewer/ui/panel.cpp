// A panel: its drawing and the effects of pointing and clicking.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "model/description.h"
#include "model/family.h"
#include "viewer/panels/panels.h"
#include "viewer/session/masking.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"
#include "viewer/ui/interface.h"

namespace headscope::viewer {

namespace {

RoleSet pointable(PanelId panel) {
    switch (panel) {
        case PanelId::Figure:
            return {Role::Swatch,     Role::SwatchLabel, Role::Attention, Role::Slab,
                    Role::QueryLabel, Role::KeyLabel,    Role::ChosenWord};
        case PanelId::Matrix: return {Role::Cell, Role::QueryLabel, Role::KeyLabel, Role::Legend};
        case PanelId::Training: return {Role::Point, Role::Curve, Role::Block, Role::Attention, Role::Slab};
        case PanelId::Tree: return {Role::Node, Role::Label, Role::Attention, Role::Slab};
        case PanelId::Time: return {Role::Cell, Role::Bar, Role::Node, Role::Attention, Role::Slab, Role::Swatch};
        case PanelId::Model: return {Role::Block, Role::Bar};
        case PanelId::Heads:
        case PanelId::Surgery:
        case PanelId::Compare: break;
    }
    return RoleSet::all_but({Role::Background, Role::Grid, Role::Note, Role::Title});
}

// The column whose label in this row is nearest to the pointer: the whole column responds, not only the text.
int column_at(const Drawing& drawing, Point at, Role role, double pitch) {
    int column = -1;
    double nearest = 0.5 * pitch;
    double top = 1e30;
    double bottom = -1e30;
    for (const Primitive& primitive : drawing.primitives) {
        if (primitive.mark.role != role) {
            continue;
        }
        const Rect box = box_of(std::get<Text>(primitive.shape));
        top = std::min(top, box.y);
        bottom = std::max(bottom, box.y + box.height);
        const double away = std::abs(box.x + 0.5 * box.width - at.x);
        if (away < nearest) {
            nearest = away;
            column = role == Role::QueryLabel ? primitive.mark.query : primitive.mark.key;
        }
    }
    return at.y >= top && at.y <= bottom ? column : -1;
}

// The matrix cell at a point, also if its weight is too faint to be drawn.
std::optional<Mark> cell_at(const Scene& scene, const Drawing& drawing, Point at) {
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

void figure_events(Interface& ui, const Drawing& drawing, const CanvasEvents& events) {
    ViewState& state = ui.state();
    const Scene& scene = ui.session.scene();
    const auto& model = scene.main.model;
    const bool swatch = events.hovered.has_value() &&
                        (events.hovered->role == Role::Swatch || events.hovered->role == Role::SwatchLabel);
    if (swatch && model.has_value()) {
        // The first press of a double click also counted as a click, which does not change the result.
        if (events.double_clicked) {
            toggle_head(state, heads_of(scene), events.hovered->head, true);
        } else if (events.clicked) {
            toggle_head(state, heads_of(scene), events.hovered->head, false);
        }
        return;
    }
    const double pitch = kFigurePitch * static_cast<double>(ui.em());
    const Role role = state.direction == Direction::From ? Role::QueryLabel : Role::KeyLabel;
    const int column = events.pointer.has_value() ? column_at(drawing, *events.pointer, role, pitch) : -1;
    ui.session.hover_word(column);
    if (events.clicked && column >= 0) {
        state.word = state.word == column ? -1 : column;
    }
}

void heads_events(Interface& ui, const CanvasEvents& events) {
    if (!events.hovered.has_value() || events.hovered->head == 0 || events.hovered->layer == 0) {
        return;
    }
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (events.clicked) {
        ViewState& state = ui.state();
        state.layer = events.hovered->layer;
        state.heads = {events.hovered->head};
        state.panel = PanelId::Figure;
    }
}

void matrix_events(Interface& ui, const CanvasEvents& events) {
    if (events.clicked && events.hovered.has_value() && events.hovered->query >= 0) {
        ViewState& state = ui.state();
        const bool same = state.word == events.hovered->query && state.key == events.hovered->key;
        state.direction = Direction::From;
        state.word = same ? -1 : events.hovered->query;
        state.key = same ? -1 : events.hovered->key;
    }
}

void time_events(Interface& ui, const CanvasEvents& events) {
    if (!events.clicked || !events.hovered.has_value() || events.hovered->item < 0) {
        return;
    }
    const auto& shown = ui.session.scene().main.shown;
    if (events.hovered->role == Role::Cell) {
        ui.state().step = events.hovered->item;
    } else if (events.hovered->role == Role::Bar && traits(family_of(ui.session.scene())).fills_masks) {
        const int mask = shown_step(ui.session.scene());
        const std::vector<Filling> words = fillings(ui.session.scene(), mask);
        if (events.hovered->item < std::ssize(words)) {
            fill_mask(ui.state(), mask, words[static_cast<std::size_t>(events.hovered->item)]);
        }
    } else if (events.hovered->role == Role::Node && shown != nullptr &&
               events.hovered->item < static_cast<int>(shown->beam.size())) {
        const int depth = shown->beam[static_cast<std::size_t>(events.hovered->item)].step;
        ui.state().step = static_cast<int>(shown->prompt) + std::max(depth - 1, 0);
    }
    ui.playing = false;
}

void surgery_events(Interface& ui, const CanvasEvents& events) {
    const Importance* importance = shown_importance(ui.session.scene());
    if (importance == nullptr || !events.hovered.has_value() || events.hovered->head == 0) {
        return;
    }
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    const auto item = static_cast<std::size_t>(events.hovered->item);
    if (events.clicked && item < importance->heads.size()) {
        switch_head(ui.state(), importance->heads[item].site, importance->heads[item].head);
    }
}

// A click shows or hides the weights of a block; a double click opens the heads of an attention.
void model_events(Interface& ui, const CanvasEvents& events) {
    const auto& model = ui.session.scene().main.model;
    if (!events.hovered.has_value() || events.hovered->item < 0 || !model.has_value()) {
        return;
    }
    ViewState& state = ui.state();
    const Block block = describe(model->config).blocks.at(static_cast<std::size_t>(events.hovered->item));
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (events.double_clicked && block.attention.has_value()) {
        state.kind = *block.attention;
        state.layer = block.layer;
        state.panel = PanelId::Figure;
    } else if (events.clicked) {
        state.layer = block.layer > 0 ? block.layer : state.layer;
        state.block = state.block == block.prefix ? "" : block.prefix;
    }
}

// A click on a row opens the training of its first seed; further clicks, those of the others.
void experiment_events(Interface& ui, const CanvasEvents& events) {
    const Scene& scene = ui.session.scene();
    const auto row = static_cast<std::size_t>(events.hovered->item);
    if (scene.experiment == nullptr || events.hovered->item < 0 || row >= scene.experiment->rows.size()) {
        return;
    }
    const std::string trial = trial_after(scene, row);
    if (trial.empty()) {
        return;
    }
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (events.clicked && std::filesystem::path(trial).filename() != scene.main.model->name) {
        ui.session.open(trial, ui.session.device());
    }
}

// The symbol of a constituent or a leaf, whose attention is shown below the tree.
void tree_events(Interface& ui, const CanvasEvents& events) {
    int step = -1;
    if (events.hovered.has_value() && events.hovered->item >= 0 &&
        (events.hovered->role == Role::Node || events.hovered->role == Role::Label)) {
        const WrittenTree tree = written_tree(ui.session.scene());
        const auto node = static_cast<std::size_t>(events.hovered->item);
        step = node < tree.steps.size() ? tree.steps[node] : -1;
    }
    ui.session.hover_step(step);
    if (events.clicked && step >= 0) {
        ui.state().step = ui.state().step == step ? -1 : step;
    }
}

void training_events(Interface& ui, const CanvasEvents& events) {
    if (events.hovered.has_value() && events.hovered->role == Role::Block) {
        experiment_events(ui, events);
        return;
    }
    if (events.clicked && events.hovered.has_value() && events.hovered->role == Role::Point &&
        events.hovered->item >= 0) {
        const auto& run = ui.session.scene().run;
        if (run != nullptr && events.hovered->item < static_cast<int>(run->checkpoints.size())) {
            ui.session.open_checkpoint(run->checkpoints[static_cast<std::size_t>(events.hovered->item)]);
        }
    }
}

}  // namespace

void show_panel(Interface& ui, PanelId panel) {
    const Scene& scene = ui.session.scene();
    // Drawings use the window's text size. Dear ImGui measures it by line height.
    const PanelOptions options{.ink = ui.ink(),
                               .text_size = std::round(static_cast<double>(ui.em()) / 1.25),
                               .width = static_cast<double>(ImGui::GetContentRegionAvail().x),
                               .tips = false};
    const Drawing& drawing = ui.pictures.of(scene, panel, options);
    CanvasMemory& memory = ui.canvases[static_cast<std::size_t>(panel)];
    std::function<std::optional<Mark>(Point)> elsewhere;
    if (panel == PanelId::Matrix && scene.main.shown != nullptr && scene.main.shown->problem.empty()) {
        elsewhere = [&](Point at) { return cell_at(scene, drawing, at); };
    }
    const CanvasEvents events = show_canvas(
        name_of(panel), drawing, memory, ui.fonts, ui.probes,
        {.roles = pointable(panel),
         .fit_height = panel != PanelId::Model,
         .pages = panel == ui.state().panel && ui.overlay == Overlay::None ? std::exchange(ui.pages, 0.0F) : 0.0F,
         .elsewhere = elsewhere,
         .tip = [&](const Mark& mark) { return ui.pictures.tip(panel, mark); }});
    switch (panel) {
        case PanelId::Figure: figure_events(ui, drawing, events); break;
        case PanelId::Heads: heads_events(ui, events); break;
        case PanelId::Matrix: matrix_events(ui, events); break;
        case PanelId::Time: time_events(ui, events); break;
        case PanelId::Surgery: surgery_events(ui, events); break;
        case PanelId::Training: training_events(ui, events); break;
        case PanelId::Model: model_events(ui, events); break;
        case PanelId::Tree: tree_events(ui, events); break;
        case PanelId::Compare: break;
    }
    if (panel != PanelId::Figure) {
        ui.session.hover_word(-1);
    }
    if (panel != PanelId::Tree) {
        ui.session.hover_step(-1);
    }
}

}  // namespace headscope::viewer
