// The controls that choose attention and its words.
#include <algorithm>

#include <fmt/format.h>

#include "model/family.h"
#include "observe/family_labels.h"
#include "viewer/panels/controls.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

void pieces_toggle(Controls& ui) {
    ViewState& state = ui.state();
    bool pieces = !state.join_words;
    if (ui.toggle("pieces", "Show subword pieces", pieces,
                  "The model reads pieces of words. Joined to words, weights are summed over the key's pieces and "
                  "averaged over the query's.")) {
        state.join_words = !pieces;
        state.word = state.key = -1;
    }
}

void row_toggles(Controls& ui) {
    if (!traits(family_of(ui.scene())).writes_pieces) {
        return;
    }
    pieces_toggle(ui);
    if (reading_of(ui.scene()).pictures) {
        return;
    }
    ViewState& state = ui.state();
    bool hidden = !state.show_special;
    const auto& shown = ui.scene().main.shown;
    if (ui.toggle("special", "Hide " + ends_of(shown == nullptr ? AttentionRecord() : shown->record), hidden,
                  "The other weights are renormalised, so that rows still add up to 1, and a note says so.")) {
        state.show_special = !hidden;
        state.word = state.key = -1;
    }
    bool without_first = !state.show_first;
    const bool one_text = !traits(family_of(ui.scene())).reads_source;
    if ((one_text || without_first) &&  // a saved view may hide the first token of a translation model, too
        ui.toggle("first", "Hide the first token", without_first,
                  "Many heads put on it the weight that they need nowhere. The other weights are renormalised, and a "
                  "note says so.")) {
        state.show_first = !without_first;
        state.word = state.key = -1;
    }
}

void layer_stepper(Controls& ui, int layers) {
    layers = std::max(layers, 1);
    int layer = shown_layer(ui.state(), layers);
    if (ui.stepper("layer", fmt::format("Layer {} of {}", layer, layers), layer, 1, layers)) {
        ui.state().layer = layer;
    }
}

bool has_heads(Controls& ui) {
    if (const Side& side = ui.scene().main; !side.model.has_value()) {
        if (!side.problem.empty() && ui.button("models", "Open another model\u2026")) {
            ui.run("open");
        }
        return false;
    }
    if (!attentions_of(ui.scene()).empty()) {
        return true;
    }
    ui.heading("Attention");
    ui.remark("This model has none: the other panels show what it writes, its candidates and its parts.");
    return false;
}

namespace {

// A choice of the kinds that the model has.
void kind_choice(Controls& ui, const std::vector<AttentionKind>& kinds) {
    ViewState& state = ui.state();
    std::vector<const char*> names;
    for (const AttentionKind kind : kinds) {
        names.push_back(traits(family_of(ui.scene()), kind).name);
    }
    const AttentionKind shown = shown_kind(ui.scene());
    int chosen = static_cast<int>(std::find(kinds.begin(), kinds.end(), shown) - kinds.begin());
    if (ui.segmented("kind", chosen, names)) {
        choose_kind(state, kinds[static_cast<std::size_t>(chosen)]);
    }
}

}  // namespace

void kind_and_layer(Controls& ui, bool with_layer) {
    const bool translates = traits(family_of(ui.scene())).reads_source;
    if (translates || with_layer) {
        ui.heading("Attention");
    }
    if (translates) {  // a language model has one kind
        kind_choice(ui, attentions_of(ui.scene()));
    }
    if (with_layer) {
        layer_stepper(ui, layers_of(ui.scene()));
    }
}

void heads_row(Controls& ui, const AttentionSite& site) {
    ui.heading("Heads");
    const int heads = std::max(heads_of(ui.scene(), site.kind), 1);
    const std::vector<int> active = active_heads(ui.state(), heads);
    const int group = heads_in_group(ui.scene(), site.kind);
    const std::vector<AttentionEdit>& edits = ui.state().edits;
    std::vector<HeadSwatch> swatches;
    for (int head = 1; head <= heads; ++head) {
        const AttentionEdit off{.site = site, .head = head};
        swatches.push_back({.head = head,
                            .visible = std::find(active.begin(), active.end(), head) != active.end(),
                            .off = std::find(edits.begin(), edits.end(), off) != edits.end(),
                            .begins_group = group > 1 && head % group == 1});
    }
    if (const HeadClick click = ui.heads(swatches); click.head > 0) {
        toggle_head(ui.state(), heads, click.head, click.alone);
    }
    if (group > 1) {
        ui.remark(fmt::format("The {} heads of a group share keys and values.", group), "heads.groups");
    }
}

void attention_choice(Controls& ui) {
    kind_and_layer(ui, true);
    heads_row(ui, shown_site(ui.scene()));
}

}  // namespace headscope::viewer
