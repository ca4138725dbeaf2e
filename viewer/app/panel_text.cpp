// What panels say in words, and the matrix as a table.
#include "observe/record_json.h"
#include "support/check.h"
#include "viewer/app/panel_drawing.h"
#include "viewer/app/rows.h"

namespace headscope::viewer {

namespace {

FigureContent content_of(const Scene& scene) {
    const AttentionRecord record = matrix_record(scene, scene.main.shown->record);
    return select_content(record, figure_options(scene, record, {}));
}

bool anything(const Scene& scene) {
    return scene.main.shown != nullptr && scene.main.shown->problem.empty();
}

}  // namespace

std::string panel_tip(const Scene& scene, PanelId panel, const Mark& mark) {
    if (!mark.tip.empty() || !anything(scene)) {
        return mark.tip;
    }
    if (panel == PanelId::Figure) {
        const AttentionRecord& record = scene.main.shown->record;
        FigureOptions options = figure_options(scene, record, {});
        choose_word(scene, options);
        return figure_tip(select_content(record, options), mark);
    }
    if (panel == PanelId::Matrix) {
        return figure_tip(content_of(scene), mark);
    }
    return {};
}

std::string matrix_tsv(const Scene& scene) {
    if (!anything(scene)) {
        throw Error("there is nothing to save yet");
    }
    const FigureContent content = content_of(scene);
    return to_tsv(content, content.heads.front());
}

}  // namespace headscope::viewer
