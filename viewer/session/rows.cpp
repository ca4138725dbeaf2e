#include "viewer/session/rows.h"

#include <algorithm>

#include "figures/picture_attention.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "observe/head_selection.h"

namespace headscope::viewer {

RowOptions row_options(const Scene& scene) {
    const ViewState& state = scene.state;
    const bool pictures = reading_of(scene).pictures;
    return {.join_words = state.join_words,
            .show_pads = false,
            .show_special = state.show_special || pictures,
            .show_first = state.show_first || pictures};
}

bool shows_patches(const Scene& scene) {
    return scene.main.model.has_value() && looks_at_patches(scene.main.model->config, shown_kind(scene));
}

Direction shown_direction(const Scene& scene) {
    return shows_patches(scene) && shown_kind(scene) == AttentionKind::Cross ? Direction::From : scene.state.direction;
}

std::vector<AttentionKind> attentions_of(const Scene& scene) {
    if (scene.main.model.has_value()) {
        return kinds_of(scene.main.model->config);
    }
    std::vector<AttentionKind> kinds;
    for (const KindTraits& labels : traits(family_of(scene)).kinds) {
        kinds.push_back(labels.kind);
    }
    return kinds;
}

AttentionKind shown_kind(const Scene& scene) {
    const std::vector<AttentionKind> kinds = attentions_of(scene);
    if (std::find(kinds.begin(), kinds.end(), scene.state.kind) != kinds.end()) {
        return scene.state.kind;
    }
    return kinds.empty() ? traits(family_of(scene)).kinds.front().kind : kinds.front();
}

int layers_of(const Scene& scene) {
    if (!scene.main.model.has_value()) {
        return 0;
    }
    const ModelConfig& config = scene.main.model->config;
    const int layers = headscope::layers_of(config, shown_kind(scene));
    return layers > 0 ? layers : std::max(config.encoder_layers, config.decoder_layers);
}

int heads_of(const Scene& scene) {
    return heads_of(scene, shown_kind(scene));
}

int heads_of(const Scene& scene, AttentionKind kind) {
    const bool has_heads = scene.main.model.has_value() && !attentions_of(scene).empty();
    return has_heads ? headscope::heads_of(scene.main.model->config, kind) : 0;
}

int heads_in_group(const Scene& scene, AttentionKind kind) {
    return heads_of(scene, kind) == 0 ? 1 : headscope::heads_in_group(scene.main.model->config, kind);
}

AttentionSite shown_site(const Scene& scene) {
    return {shown_kind(scene), shown_layer(scene.state, layers_of(scene)) - 1};
}

int first_head(const Scene& scene) {
    return active_heads(scene.state, std::max(heads_of(scene), 1)).front();
}

std::size_t words_of(const Scene& scene, Direction direction) {
    const auto& shown = scene.main.shown;
    if (shown == nullptr) {
        return 0;
    }
    const AttentionKind kind = shown_kind(scene);
    const auto& tokens =
        direction == Direction::From ? query_tokens(shown->record, kind) : key_tokens(shown->record, kind);
    return make_row(tokens, row_options(scene)).size();
}

int mask_column(const Scene& scene) {
    const auto& shown = scene.main.shown;
    const int step = scene.state.step;
    if (!traits(family_of(scene)).fills_masks || shown == nullptr || step < 0 || step >= std::ssize(shown->steps)) {
        return -1;
    }
    const std::int64_t token = shown->steps[static_cast<std::size_t>(step)].position;
    const std::vector<RowItem> row = make_row(shown->record.source, row_options(scene));
    const auto found = std::find_if(row.begin(), row.end(), [token](const RowItem& item) {
        return item.first <= token && token < item.first + item.count;
    });
    return found == row.end() ? -1 : static_cast<int>(found - row.begin());
}

void choose_kind(ViewState& state, AttentionKind kind) {
    if (state.kind == kind) {
        return;
    }
    if (follows_choice(state)) {
        state.chosen = ChosenHead{};  // the window chooses one of this kind
        state.heads.clear();
    }
    state.kind = kind;
    state.word = state.key = -1;
}

void show_head(ViewState& state, const TellingHead& found) {
    state.kind = found.site.kind;
    state.layer = found.site.layer + 1;
    state.heads = {found.head};
    state.word = static_cast<int>(found.query);
    state.key = static_cast<int>(found.key);
    state.direction = Direction::From;
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

}  // namespace headscope::viewer
