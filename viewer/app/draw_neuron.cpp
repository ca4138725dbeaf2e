// Equation 1 for the chosen word, below the matrix.
#include "layout/neuron_drawing.h"
#include "viewer/app/panels.h"
#include "viewer/app/rows.h"

namespace headscope::viewer {

namespace {

std::vector<std::string> texts_of(const std::vector<RecordedToken>& tokens) {
    std::vector<std::string> texts;
    for (const RecordedToken& token : tokens) {
        texts.push_back(token.text);
    }
    return texts;
}

// The first piece of a column.
int first_piece(const std::vector<RecordedToken>& tokens, int column, const ViewState& state) {
    const std::vector<RowItem> row = make_row(tokens, row_options(state));
    return column < 0 || column >= static_cast<int>(row.size())
               ? -1
               : static_cast<int>(row[static_cast<std::size_t>(column)].first);
}

}  // namespace

Drawing draw_neuron(const Scene& scene, const PanelOptions& options) {
    const auto& neuron = scene.neuron;
    const ViewState& state = scene.state;
    if (neuron == nullptr || state.word < 0 || state.matrix != MatrixView::Head || neuron->site != shown_site(scene) ||
        neuron->head != first_head(scene)) {
        return {};
    }
    if (!neuron->problem.empty()) {
        return draw_remark(neuron->problem, options);
    }
    const AttentionRecord& record = scene.main.shown->record;
    const auto& queries = query_tokens(record, state.kind);
    const auto& keys = key_tokens(record, state.kind);
    const int query = first_piece(queries, state.word, state);
    if (query < 0 || query >= neuron->queries || static_cast<std::int64_t>(keys.size()) != neuron->keys) {
        return {};
    }
    const SiteWeights& weights = find_site(record, state.kind, neuron->site.layer + 1);
    std::vector<float> row;
    for (std::int64_t key = 0; key < weights.keys; ++key) {
        row.push_back(weights.at(neuron->head - 1, query, key));
    }
    return draw_neurons(
        *neuron, texts_of(queries), texts_of(keys), row, query,
        {.palette = state.palette, .chosen = first_piece(keys, state.key, state), .look = look_of(options)});
}

}  // namespace headscope::viewer
