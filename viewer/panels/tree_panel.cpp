// The tree that a parser wrote, and what its heads looked at for each symbol.
#include <algorithm>

#include "figures/parse_tree_drawing.h"
#include "observe/family_labels.h"
#include "paint/compose.h"
#include "support/check.h"
#include "viewer/panels/controls.h"
#include "viewer/panels/numbers.h"
#include "viewer/panels/parts.h"

namespace headscope::viewer {

namespace {

constexpr const char* kWritesNoTrees =
    "This model does not write trees: open one that was trained on linearised trees.";

std::string no_trees(const Scene& scene) {
    const auto& model = scene.main.model;
    return model.has_value() && model->terminals.has_value() ? "" : kWritesNoTrees;
}

// A symbol is one token: (X opens a constituent, )X closes the innermost one, any other stands for a word.
void follow(const std::vector<RecordedToken>& symbols, WrittenTree& tree) {
    std::vector<int> open;
    for (std::size_t step = 0; step < symbols.size(); ++step) {
        const bool ends = symbols[step].kind == TokenKind::End;
        const std::string& symbol = symbols[step].text;
        if (!ends && symbol.starts_with(')')) {
            tree.nodes.push_back(open.back());
            open.pop_back();
            continue;
        }
        tree.nodes.push_back(ends ? -1 : static_cast<int>(tree.steps.size()));
        if (!ends) {
            if (symbol.starts_with('(')) {
                open.push_back(tree.nodes.back());
            }
            tree.steps.push_back(static_cast<int>(step));
        }
    }
}

// Of levels each symbol stands for a word; that of a constituent is its first word's.
void follow_words(const Tree& tree, WrittenTree& written) {
    written.steps.push_back(static_cast<int>(written.nodes.size()));
    if (tree.is_leaf()) {
        written.nodes.push_back(static_cast<int>(written.steps.size()) - 1);
    }
    for (const Tree& child : tree.children) {
        follow_words(child, written);
    }
}

}  // namespace

WrittenTree written_tree(const Scene& scene) {
    WrittenTree tree;
    const Side& side = scene.main;
    if (const std::string nothing = nothing_there(side); !nothing.empty()) {
        tree.problem = nothing;
    } else if (!side.model->terminals.has_value()) {
        tree.problem = kWritesNoTrees;
    } else if (!side.shown->finished) {
        tree.problem = "Parsing \u2026";
    }
    if (!tree.problem.empty()) {
        return tree;
    }
    const Exploration& shown = *side.shown;
    try {
        tree.restored = restored(shown.translation, split_at_blanks(shown.source), nullptr, *side.model->terminals);
    } catch (const Error& error) {  // of symbols that the user gave
        tree.problem = error.what();
        return tree;
    }
    const std::vector<RecordedToken>& tokens = shown.record.target_out;
    const auto symbols = std::count_if(tokens.begin(), tokens.end(),
                                       [](const RecordedToken& token) { return token.kind != TokenKind::End; });
    if (!tree.restored.repairs.any() && std::ssize(split_at_blanks(shown.translation)) == symbols) {
        if (*side.model->terminals == Terminals::Levels) {
            follow_words(tree.restored.tree, tree);
            tree.nodes.push_back(-1);  // the end's
        } else {
            follow(tokens, tree);
        }
    }
    return tree;
}

namespace {

std::string missing_tree(const Scene& scene) {
    return written_tree(scene).problem;
}

Drawing draw_tree(const Scene& scene, const PanelOptions& options, RecordParts& /*parts*/) {
    const WrittenTree tree = written_tree(scene);
    const int step = shown_step(scene);
    const int chosen = step >= 0 && step < std::ssize(tree.nodes) ? tree.nodes[static_cast<std::size_t>(step)] : -1;
    std::vector<Drawing> parts{draw_parse_tree(tree.restored.tree, look_of(options), chosen)};
    if (tree.restored.repairs.any()) {
        parts.push_back(draw_remark(
            "The model wrote a malformed tree, which was repaired: its constituents have no symbols.", options));
    }
    if (const std::optional<AttentionSelection> selection = step_selection(scene)) {
        parts.push_back(
            draw_figure(select_attention(scene.main.shown->record, *selection), figure_options(scene, options)));
    }
    return stacked(std::move(parts), options.text_size, options.ink);
}

nlohmann::json tree_numbers(const Scene& scene) {
    const Restored restored = written_tree(scene).restored;
    nlohmann::json out = output_json(*scene.main.shown);
    out["tree"] = to_line(restored.tree);
    out["repaired"] = restored.repairs.any();
    return out;
}

void tree_controls(Controls& ui) {
    const auto& model = ui.scene().main.model;
    if (const int layers = model.has_value() ? headscope::layers_of(model->config, AttentionKind::Cross) : 0;
        layers > 0) {
        ViewState& state = ui.state();
        const ViewState before = state;
        const bool other = state.kind != AttentionKind::Cross && follows_choice(state);
        if (other) {  // the figure below the tree does not show the head that was found: step_selection()
            state.layer = ViewState().layer;
            state.heads.clear();
        }
        const ViewState drawn = state;
        ui.heading("Attention");
        layer_stepper(ui, layers);
        heads_row(ui, {AttentionKind::Cross, shown_layer(state, layers) - 1});
        if (other && state == drawn) {
            state = before;
        }
    }
    search_controls(ui);
    ui.remark(
        "The constituency tree that the model wrote, and below it what each head of the cross-attention looked at for "
        "one of its symbols. Point at a constituent or a tag for its symbol; click to keep it.");
}

// The symbol of a constituent or a leaf, whose attention is shown below the tree.
void tree_events(Controls& ui, const Drawing& /*drawing*/, const PanelEvents& events) {
    int step = -1;
    if (events.over_item() && (events.hovered->role == Role::Node || events.hovered->role == Role::Label)) {
        const WrittenTree tree = written_tree(ui.scene());
        const auto node = static_cast<std::size_t>(events.hovered->item);
        step = node < tree.steps.size() ? tree.steps[node] : -1;
    }
    ui.session.hover_step(step);
    if (events.clicked && step >= 0) {
        ui.state().step = ui.state().step == step ? -1 : step;
    }
}

}  // namespace

const Panel kTreePanel{.id = PanelId::Tree,
                       .title = "Tree",
                       .unfit = no_trees,
                       .missing = missing_tree,
                       .draw = draw_tree,
                       .numbers = tree_numbers,
                       .contents = step_contents,
                       .pointable = {Role::Node, Role::Label, Role::Attention, Role::Slab},
                       .controls = tree_controls,
                       .events = tree_events};

}  // namespace headscope::viewer
