// Every head of every layer as a small picture.
#include <algorithm>

#include <fmt/format.h>

#include "figures/all_heads.h"
#include "figures/picture_attention.h"
#include "observe/record_json.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

// The overview is as wide as the panel, unless that made its text smaller than this share of the other panels'.
constexpr double kSmallestText = 0.75;
// More are shown in pages of whole layers.
constexpr int kHeadsOfPage = 512;

struct Page {
    int size = 0;   // in heads
    int count = 1;  // of all pages
    int shown = 0;  // from 0
};

Page page_of(const Scene& scene) {
    const AttentionKind kind = shown_kind(scene);
    const int heads = std::max(heads_of(scene, kind), 1);
    const int layers = std::max(layers_of(scene), 1);
    const int layers_of_page = std::max(kHeadsOfPage / heads, 1);
    Page page{.size = layers_of_page * heads, .count = (layers + layers_of_page - 1) / layers_of_page};
    page.shown = std::min(scene.state.heads_page, page.count - 1);
    return page;
}

// "Layers 17 to 32 of 40", or of an order across layers "Heads 513 to 1024 of 1280".
std::string name_of_page(const Scene& scene, const Page& page) {
    const bool by_layer = scene.state.order == HeadOrder::Model;
    const int heads = std::max(heads_of(scene, shown_kind(scene)), 1);
    const int all = by_layer ? layers_of(scene) : layers_of(scene) * heads;
    const int size = by_layer ? page.size / heads : page.size;
    const int first = page.shown * size + 1;
    const int last = std::min((page.shown + 1) * size, all);
    const char* noun = by_layer ? "Layer" : "Head";
    return first == last ? fmt::format("{} {} of {}", noun, first, all)
                         : fmt::format("{}s {} to {} of {}", noun, first, last, all);
}

std::string note_of(const Scene& scene, const Page& page) {
    const std::string note = row_of(scene.state.order).legend;
    return page.count > 1 ? note + ". " + name_of_page(scene, page) : note;
}

Drawing draw_heads(const Scene& scene, const PanelOptions& options, RecordParts& parts) {
    const AttentionKind kind = shown_kind(scene);
    Look look = look_of(options);
    look.tips = true;  // few, and not in Panel::contents
    const Page page = page_of(scene);
    const int group = scene.state.order == HeadOrder::Model ? heads_in_group(scene, kind) : 1;
    const AllHeadsOptions all{.group = group,
                              .width = options.width / options.text_size / kSmallestText,
                              .note = note_of(scene, page),
                              .lines = scene.state.small_figures,
                              .palette = scene.state.palette,
                              .look = look};
    const auto& shown = scene.main.shown;
    std::vector<HeadTile> tiles = head_tiles(shown->record, parts.statistics(shown), kind, scene.state.order);
    const auto from = std::min(static_cast<std::size_t>(page.shown * page.size), tiles.size());
    const auto to = std::min(from + static_cast<std::size_t>(page.size), tiles.size());
    tiles = {tiles.begin() + static_cast<std::ptrdiff_t>(from), tiles.begin() + static_cast<std::ptrdiff_t>(to)};
    if (shows_patches(scene) && !tiles.empty()) {
        AttentionSelection selection = word_selection_of(scene, shown->record);
        selection.heads.clear();
        const bool in_order = scene.state.order != HeadOrder::Model;
        for (HeadTile& tile : tiles) {
            tile.value = in_order ? tile.value : "";
        }
        PatchMap map = map_heads(shown->record, tiles, std::move(selection), scene.main.model->config, *shown->picture);
        map.note = (in_order ? all.note + ". " : page.count > 1 ? name_of_page(scene, page) + ". " : "") + map.note;
        return draw_map_of_patches(map, options);
    }
    return draw_all_heads(parts.thumbnails(shown, kind, all.lines, row_options(scene)), tiles, all);
}

nlohmann::json heads_numbers(const Scene& scene) {
    return nlohmann::json::parse(to_json(scene.main.shown->record));
}

// Drawing the heads of a long text takes longer than a frame, so typing and what other panels show must not repeat it.
void forget_unseen_by_heads(const Scene& scene, ViewState& state) {
    ViewState seen;
    seen.kind = state.kind;
    if (shows_patches(scene)) {
        seen.word = state.word;
        seen.direction = state.direction;
    }
    seen.order = state.order;
    seen.small_figures = state.small_figures;
    seen.heads_page = state.heads_page;
    seen.join_words = state.join_words;
    seen.show_special = state.show_special;
    seen.show_first = state.show_first;
    seen.palette = state.palette;
    state = seen;
}

void heads_controls(Controls& ui) {
    if (!has_heads(ui)) {
        return;
    }
    kind_and_layer(ui, false);
    ui.heading("Order");
    std::vector<const char*> orders;
    for (const HeadOrderRow& row : kHeadOrders) {
        orders.push_back(row.label);
    }
    if (ui.choice("order", ui.state().order, orders)) {
        ui.state().heads_page = 0;
    }
    if (const Page page = page_of(ui.scene()); page.count > 1) {
        int shown = page.shown;
        if (ui.stepper("page", name_of_page(ui.scene(), page), shown, 0, page.count - 1)) {
            ui.state().heads_page = shown;
        }
    }
    if (shows_patches(ui.scene())) {
        ui.remark(
            "What each head looks at on the picture: from the patch or word that the figure shows. Click a head to "
            "open it.");
        return;
    }
    ui.heading("Pictures");
    ui.choice("pictures", ui.state().small_figures, {"Matrices", "Figures"});
    row_toggles(ui);
    ui.remark(
        "Click a head to open it. Diagonals: every word looks at its neighbours. Columns: every word looks at the "
        "same one.");
}

void heads_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    if (!events.hovered.has_value() || events.hovered->head == 0 || events.hovered->layer == 0) {
        return;
    }
    ui.point_out();
    if (events.clicked) {
        ViewState& state = ui.state();
        state.layer = events.hovered->layer;
        state.heads = {events.hovered->head};
        state.panel = PanelId::Figure;
    }
}

}  // namespace

const Panel kHeadsPanel{.id = PanelId::Heads,
                        .title = "All heads",
                        .unfit = no_attention,
                        .missing = missing_figure,
                        .draw = draw_heads,
                        .numbers = heads_numbers,
                        .forget_unseen = forget_unseen_by_heads,
                        .follows_pointer = false,
                        .controls = heads_controls,
                        .events = heads_events};

}  // namespace headscope::viewer
