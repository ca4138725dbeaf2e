// Tooltips of panels, and the matrix as a table.
#include "observe/record_json.h"
#include "support/check.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/panels.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

SelectedAttention content_of(const Scene& scene) {
    const AttentionRecord record = matrix_record(scene, scene.main.shown->record);
    return select_attention(record, selection_of(scene, record));
}

bool has_result(const Scene& scene) {
    return scene.main.shown != nullptr && scene.main.shown->problem.empty();
}

}  // namespace

std::vector<SelectedAttention> panel_contents(const Scene& scene, PanelId panel) {
    if (!has_result(scene)) {
        return {};
    }
    const AttentionRecord& record = scene.main.shown->record;
    if (panel == PanelId::Time || panel == PanelId::Tree) {
        const std::optional<AttentionSelection> selection = step_selection(scene);
        return selection.has_value() ? std::vector{select_attention(record, *selection)}
                                     : std::vector<SelectedAttention>{};
    }
    if (!missing_attention(scene, scene.main).empty()) {
        return {};
    }
    if (panel == PanelId::Figure || panel == PanelId::Training) {
        AttentionSelection selection = selection_of(scene, record);
        choose_word(scene, selection);
        return {select_attention(record, selection)};
    }
    if (panel == PanelId::Matrix) {
        std::vector<SelectedAttention> contents{select_attention(record, selection_of(scene, record))};
        if (scene.state.matrix != MatrixView::Head) {
            contents.push_back(content_of(scene));
        }
        return contents;
    }
    return {};
}

std::string panel_tip(const std::vector<SelectedAttention>& contents, const Mark& mark) {
    if (!mark.tip.empty() || contents.empty()) {
        return mark.tip;
    }
    const SelectedAttention& content = mark.item == 1 && contents.size() == 2 ? contents[1] : contents[0];
    const bool cell = mark.role == Role::Cell || mark.role == Role::Attention;
    if (cell && (mark.query < 0 || mark.key < 0 || mark.query >= static_cast<int>(content.queries.size()) ||
                 mark.key >= static_cast<int>(content.keys.size()))) {
        return {};  // the mark belongs to another part of the panel
    }
    return figure_tip(content, mark);
}

std::string matrix_tsv(const Scene& scene) {
    if (!has_result(scene)) {
        throw Error("there is nothing to save yet");
    }
    if (const std::string missing = missing_attention(scene, scene.main); !missing.empty()) {
        throw Error("there is no matrix to save: " + missing);
    }
    const SelectedAttention content = content_of(scene);
    return to_tsv(content, content.heads.front());
}

}  // namespace headscope::viewer
