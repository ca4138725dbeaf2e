// Equation 1 for the selected word, below the matrix.
#include "figures/neuron_drawing.h"
#include "viewer/panels/parts.h"
#include "viewer/session/rows.h"
#include "viewer/session/shown.h"

namespace headscope::viewer {

namespace {

std::vector<std::string> texts_of(const std::vector<RecordedToken>& tokens) {
    std::vector<std::string> texts;
    for (const RecordedToken& token : tokens) {
        texts.push_back(token.text);
    }
    return texts;
}

// The first piece of a column; -1 if there is no such column.
int first_piece(const std::vector<RecordedToken>& tokens, int column, const Scene& scene) {
    const std::vector<RowItem> row = make_row(tokens, row_options(scene));
    return column < 0 || column >= static_cast<int>(row.size())
               ? -1
               : static_cast<int>(row[static_cast<std::size_t>(column)].first);
}

}  // namespace

std::optional<NeuronRow> neuron_row(const Scene& scene) {
    const NeuronView* neuron = shown_neuron(scene);
    if (neuron == nullptr || !neuron->problem.empty()) {
        return std::nullopt;
    }
    const AttentionRecord& record = scene.main.shown->record;
    const AttentionKind kind = shown_kind(scene);
    const auto& keys = key_tokens(record, kind);
    NeuronRow row{.query = first_piece(query_tokens(record, kind), scene.state.word, scene),
                  .chosen = first_piece(keys, scene.state.key, scene),
                  .weights = {}};
    if (row.query < 0 || row.query >= neuron->queries || static_cast<std::int64_t>(keys.size()) != neuron->keys) {
        return std::nullopt;
    }
    const SiteWeights& weights = find_site(record, kind, neuron->site.layer + 1);
    for (std::int64_t key = 0; key < weights.keys; ++key) {
        row.weights.push_back(weights.at(neuron->head - 1, row.query, key));
    }
    return row;
}

Drawing draw_neuron(const Scene& scene, const PanelOptions& options) {
    const NeuronView* neuron = shown_neuron(scene);
    if (neuron != nullptr && !neuron->problem.empty()) {
        return draw_remark(neuron->problem, options);
    }
    const std::optional<NeuronRow> row = neuron_row(scene);
    if (!row.has_value()) {
        return {};
    }
    const AttentionRecord& record = scene.main.shown->record;
    return draw_neurons(*neuron, texts_of(query_tokens(record, shown_kind(scene))),
                        texts_of(key_tokens(record, shown_kind(scene))), row->weights, row->query,
                        {.palette = scene.state.palette, .chosen = row->chosen, .look = look_of(options)});
}

}  // namespace headscope::viewer
