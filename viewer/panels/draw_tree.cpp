// The tree that a parser wrote, and what its heads looked at for each symbol.
#include <algorithm>

#include "figures/parse_tree_drawing.h"
#include "paint/compose.h"
#include "support/check.h"
#include "viewer/panels/panel_drawing.h"
#include "viewer/panels/panels.h"

namespace headscope::viewer {

namespace {

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

}  // namespace

WrittenTree written_tree(const Scene& scene) {
    WrittenTree tree;
    const Side& side = scene.main;
    if (const std::string nothing = nothing_there(side); !nothing.empty()) {
        tree.problem = nothing;
    } else if (!side.model->terminals.has_value()) {
        tree.problem = "This model does not write trees: open one that was trained on linearised trees.";
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
        follow(tokens, tree);
    }
    return tree;
}

Drawing draw_tree(const Scene& scene, const PanelOptions& options) {
    const WrittenTree tree = written_tree(scene);
    if (!tree.problem.empty()) {
        return draw_remark(tree.problem, options);
    }
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

}  // namespace headscope::viewer
