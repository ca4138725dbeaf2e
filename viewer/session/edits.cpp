#include "viewer/session/edits.h"

#include <algorithm>

#include "support/check.h"
#include "viewer/session/rows.h"

namespace headscope::viewer {

namespace {

bool same_rows(const AttentionEdit& a, const AttentionEdit& b) {
    return a.site == b.site && a.head == b.head && a.query == b.query;
}

struct Pair {
    std::vector<RowItem> queries, keys;
};

Pair rows_of(const Scene& scene) {
    const AttentionRecord& record = scene.main.shown->record;
    const RowOptions options = row_options(scene);
    return {make_row(query_tokens(record, shown_kind(scene)), options),
            make_row(key_tokens(record, shown_kind(scene)), options)};
}

}  // namespace

void switch_head(ViewState& state, const AttentionSite& site, int head) {
    const AttentionEdit off{.site = site, .head = head};
    const auto found = std::find(state.edits.begin(), state.edits.end(), off);
    if (found != state.edits.end()) {
        state.edits.erase(found);
    } else {
        put_edit(state, off);
    }
}

void put_edit(ViewState& state, const AttentionEdit& edit) {
    state.edits.erase(std::remove_if(state.edits.begin(), state.edits.end(),
                                     [&](const AttentionEdit& other) { return same_rows(other, edit); }),
                      state.edits.end());
    state.edits.push_back(edit);
}

bool pinnable(const Scene& scene) {
    if (scene.main.shown == nullptr || scene.state.word < 0 || scene.state.key < 0) {
        return false;
    }
    const Pair rows = rows_of(scene);
    return scene.state.word < static_cast<int>(rows.queries.size()) &&
           scene.state.key < static_cast<int>(rows.keys.size());
}

AttentionEdit pinned(const Scene& scene) {
    HEADSCOPE_CHECK(pinnable(scene), "two words must be selected");
    const Pair rows = rows_of(scene);
    return {.site = shown_site(scene),
            .head = first_head(scene),
            .kind = EditKind::Pin,
            .query = static_cast<int>(rows.queries[static_cast<std::size_t>(scene.state.word)].first),
            .key = static_cast<int>(rows.keys[static_cast<std::size_t>(scene.state.key)].first)};
}

}  // namespace headscope::viewer
