#include "viewer/panels/panel_drawing.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "viewer/panels/parts.h"

namespace headscope::viewer {

namespace {

// In the order of the window, which is that of PanelId.
constexpr std::array<const Panel*, kPanels> kRows{&kFigurePanel,   &kHeadsPanel,   &kMatrixPanel,   &kTimePanel,
                                                  &kSurgeryPanel,  &kModelPanel,   &kComparePanel,  &kTrainingPanel,
                                                  &kTreePanel,     &kFindPanel,    &kSaliencyPanel, &kLensPanel,
                                                  &kPatchingPanel, &kVectorsPanel, &kChatPanel};

void require_something(const Scene& scene, const Panel& panel) {
    if (const std::string missing = panel.missing(scene); !missing.empty()) {
        throw Error("there is nothing to save: " + missing);
    }
}

}  // namespace

const Panel& panel_of(PanelId id) {
    return *kRows.at(static_cast<std::size_t>(id));
}

std::string missing_result(const Scene& scene) {
    return nothing_there(scene.main);
}

std::vector<SelectedAttention> no_contents(const Scene& /*scene*/) {
    return {};
}

std::string fits_any(const Scene& /*scene*/) {
    return "";
}

const char* title_of(PanelId panel, const Reading& reading) {
    const Panel& row = panel_of(panel);
    return row.family_title == nullptr ? row.title : wording(reading).*row.family_title;
}

std::string why_not_offered(const Scene& scene, PanelId panel) {
    return scene.state.panel == panel ? "" : panel_of(panel).unfit(scene);
}

PanelId fitting_panel(const Scene& scene) {
    const std::array panels{scene.state.panel, PanelId::Figure, PanelId::Time, PanelId::Model};
    return *std::ranges::find_if(panels, [&](PanelId panel) { return panel_of(panel).unfit(scene).empty(); });
}

bool offered(const Scene& scene, PanelId panel) {
    return why_not_offered(scene, panel).empty();
}

Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options) {
    RecordParts parts;
    return draw_panel(scene, panel, options, parts);
}

Drawing draw_panel(const Scene& scene, PanelId panel, const PanelOptions& options, RecordParts& parts) {
    const Panel& row = panel_of(panel);
    const std::string missing = row.missing(scene);
    Drawing drawing = missing.empty() ? row.draw(scene, options, parts) : draw_remark(missing + row.advice, options);
    if (drawing.title.empty()) {  // only a remark
        drawing.title = title_of(panel, reading_of(scene));
    }
    return drawing;
}

std::vector<SelectedAttention> panel_contents(const Scene& scene, PanelId panel) {
    const bool has_result = scene.main.shown != nullptr && scene.main.shown->problem.empty();
    return has_result ? panel_of(panel).contents(scene) : std::vector<SelectedAttention>{};
}

namespace {

// The attention that a mark is of; null if there is none or the mark belongs to another part of the panel.
const SelectedAttention* content_under(const std::vector<SelectedAttention>& contents, const Mark& mark) {
    if (contents.empty()) {
        return nullptr;
    }
    const SelectedAttention& content = mark.item == 1 && contents.size() == 2 ? contents[1] : contents[0];
    const bool cell = mark.role == Role::Cell || mark.role == Role::Attention;
    const bool outside = mark.query < 0 || mark.key < 0 || mark.query >= std::ssize(content.queries) ||
                         mark.key >= std::ssize(content.keys);
    return cell && outside ? nullptr : &content;
}

}  // namespace

std::string panel_tip(const std::vector<SelectedAttention>& contents, const Mark& mark) {
    const SelectedAttention* content = content_under(contents, mark);
    if (!mark.tip.empty() || content == nullptr) {
        return mark.tip;
    }
    if (panel_bars(contents, mark).empty()) {
        return figure_tip(*content, mark);
    }
    return fmt::format("{} \u2192 {}", content->queries[static_cast<std::size_t>(mark.query)].label,
                       content->keys[static_cast<std::size_t>(mark.key)].label);
}

std::vector<HeadWeight> panel_bars(const std::vector<SelectedAttention>& contents, const Mark& mark) {
    const SelectedAttention* content = content_under(contents, mark);
    std::vector<HeadWeight> heads = content == nullptr ? std::vector<HeadWeight>{} : heads_of_line(*content, mark);
    return heads.size() > 1 ? heads : std::vector<HeadWeight>{};
}

std::string panel_json(const Scene& scene, PanelId panel) {
    const Panel& row = panel_of(panel);
    require_something(scene, row);
    // A sentence may hold invalid UTF-8; JSON must not.
    return row.numbers(scene).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string panel_tsv(const Scene& scene, PanelId panel) {
    const Panel& row = panel_of(panel);
    HEADSCOPE_CHECK(row.table != nullptr, fmt::format("the panel {} has no table", name_of(panel)));
    require_something(scene, row);
    return row.table(scene);
}

}  // namespace headscope::viewer
