#include "viewer/session/rows.h"

#include <algorithm>

#include "observe/head_selection.h"

namespace headscope::viewer {

RowOptions row_options(const ViewState& state) {
    return {.join_words = state.join_words, .show_pads = false, .show_special = state.show_special};
}

int layers_of(const Scene& scene) {
    if (!scene.main.model.has_value()) {
        return 0;
    }
    const ModelConfig& config = scene.main.model->config;
    return scene.state.kind == AttentionKind::EncoderSelf ? config.encoder_layers : config.decoder_layers;
}

int heads_of(const Scene& scene) {
    return scene.main.model.has_value() ? static_cast<int>(scene.main.model->config.heads) : 0;
}

AttentionSite shown_site(const Scene& scene) {
    return {scene.state.kind, shown_layer(scene.state, layers_of(scene)) - 1};
}

int first_head(const Scene& scene) {
    return active_heads(scene.state, std::max(heads_of(scene), 1)).front();
}

std::size_t words_of(const Scene& scene, Direction direction) {
    const auto& shown = scene.main.shown;
    if (shown == nullptr) {
        return 0;
    }
    const AttentionKind kind = scene.state.kind;
    const auto& tokens =
        direction == Direction::From ? query_tokens(shown->record, kind) : key_tokens(shown->record, kind);
    return make_row(tokens, row_options(scene.state)).size();
}

void toggle_head(ViewState& state, int model_heads, int head, bool alone) {
    if (head < 1 || head > model_heads) {
        return;
    }
    HeadSelection selection(model_heads);
    const std::vector<int> before = active_heads(state, model_heads);
    for (int other = 1; other <= model_heads; ++other) {
        const bool on = std::find(before.begin(), before.end(), other) != before.end();
        if (on != selection.on(other)) {
            selection.click(other);
        }
    }
    if (alone) {
        selection.double_click(head);
    } else {
        selection.click(head);
    }
    state.heads = selection.active();
    if (static_cast<int>(state.heads.size()) == model_heads) {
        state.heads.clear();
    }
}

const std::vector<std::string>& example_sentences() {
    static const std::vector<std::string> sentences{
        "The cat sleeps because it is tired.",
        "My sister gave me the book that she had read.",
        "I would like to buy a ticket to Berlin, please.",
        "It is in this spirit that a majority of American governments have passed new laws since 2009 making the "
        "registration or voting process more difficult .",
        "The Law will never be perfect , but its application should be just - this is what we are missing , in my "
        "opinion .",
    };
    return sentences;
}

}  // namespace headscope::viewer
