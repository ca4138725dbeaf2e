#include "observe/selection.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/family.h"
#include "observe/family_labels.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr const char* kJoinedNote = "Pieces joined to words: weights summed over keys, averaged over queries.";
constexpr const char* kRenormalisedNote =
    "left out: the other weights renormalised, so that rows add up as before, where they are a "
    "hundredth of the row or more.";

// "<BOS> and <EOS>, and the first word": what the options leave out of these keys. A begin is left out once, and the
// only word of a row is not. Empty: nothing.
std::string left_out(const AttentionRecord& record, const RowOptions& rows, const std::vector<RecordedToken>& tokens,
                     const std::vector<RowItem>& keys) {
    const bool begin = !rows.show_special && !tokens.empty() && tokens.front().kind == TokenKind::Begin;
    const bool first = !rows.show_first && !begin && !keys.empty() && keys.front().first > 0;
    std::string what = rows.show_special ? "" : ends_of(record);
    if (first) {
        what += what.empty() ? "The first " : ", and the first ";
        what += keys.front().first > 1 ? "word" : "token";
    }
    return what;
}

std::vector<int> active_heads(const AttentionSelection& selection, int model_heads) {
    std::set<int> heads(selection.heads.begin(), selection.heads.end());
    for (int head = 1; selection.heads.empty() && head <= model_heads; ++head) {
        heads.insert(head);
    }
    return {heads.begin(), heads.end()};
}

// The indices of the selected words and positions in a row.
std::vector<std::size_t> chosen_columns(const AttentionSelection& selection, const std::vector<RowItem>& row) {
    std::set<std::size_t> chosen;
    for (const std::string& word : selection.words) {
        const std::vector<std::size_t> found = find_word(row, word);
        chosen.insert(found.begin(), found.end());
    }
    for (const int position : selection.positions) {
        if (position < 1 || position > static_cast<int>(row.size())) {
            throw Error(fmt::format("position must be between 1 and {}, got {}", row.size(), position));
        }
        chosen.insert(static_cast<std::size_t>(position - 1));
    }
    return {chosen.begin(), chosen.end()};
}

// Joins the non-empty sentences with spaces.
std::string sentences(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) {
        text.append(text.empty() || one.empty() ? "" : " ").append(one);
    }
    return text;
}

void check_record(const SiteWeights& weights, std::size_t queries, std::size_t keys) {
    HEADSCOPE_CHECK(weights.queries == static_cast<std::int64_t>(queries) &&
                        weights.keys == static_cast<std::int64_t>(keys) &&
                        weights.values.size() == static_cast<std::size_t>(weights.heads) * queries * keys,
                    "the record's tokens and weights do not match");
    for (const float weight : weights.values) {
        if (!std::isfinite(weight)) {
            throw Error(fmt::format("layer {} of {} attention has a weight of {}: the model's parameters are damaged",
                                    weights.site.layer + 1, name_of(weights.site.kind), weight));
        }
    }
}

}  // namespace

std::string edited_note(const std::string& edited) {
    return edited.empty() ? "" : fmt::format("Edited: {}.", edited);
}

void check_heads(const std::vector<int>& heads, int model_heads) {
    for (const int head : heads) {
        if (head < 1 || head > model_heads) {
            throw Error(fmt::format("head must be between 1 and {}, got {}", model_heads, head));
        }
    }
}

void choose(SelectedAttention& selected, const AttentionSelection& selection) {
    check_heads(selection.heads, selected.model_heads);
    std::vector<std::size_t> columns =
        chosen_columns(selection, selection.looked_at ? selected.keys : selected.queries);
    selected.heads = active_heads(selection, selected.model_heads);
    selected.chosen = selected.chosen_keys = {};
    (selection.looked_at ? selected.chosen_keys : selected.chosen) = std::move(columns);
}

SelectedAttention select_attention(const AttentionRecord& record, const AttentionSelection& selection) {
    const SiteWeights& weights = find_site(record, selection.kind, selection.layer);
    const std::vector<RecordedToken>& query_row = query_tokens(record, selection.kind);
    const std::vector<RecordedToken>& key_row = key_tokens(record, selection.kind);
    check_record(weights, query_row.size(), key_row.size());

    SelectedAttention selected;
    selected.title = fmt::format("{} Layer{}", traits(record.family, selection.kind).title, selection.layer);
    if (!record.derived.empty()) {
        selected.title += ", " + record.derived;
    }
    selected.queries = make_row(query_row, selection.rows);
    selected.keys = make_row(key_row, selection.rows);
    selected.layer = selection.layer;
    selected.model_heads = static_cast<int>(weights.heads);
    selected.causal = selection.kind == AttentionKind::DecoderSelf;
    choose(selected, selection);
    selected.weights = join_weights(weights, selected.queries, selected.keys);
    const std::string hidden = left_out(record, selection.rows, key_row, selected.keys);
    if (!hidden.empty()) {
        renormalise(selected.weights, weights, selected.queries, selected.keys);
        selected.renormalised = true;
    }
    const auto several = [](const RowItem& item) { return item.count > 1; };
    selected.joined = std::any_of(selected.queries.begin(), selected.queries.end(), several) ||
                      std::any_of(selected.keys.begin(), selected.keys.end(), several);
    selected.edited = record.edited;
    selected.note = sentences({edited_note(selected.edited), selected.joined ? kJoinedNote : "",
                               hidden.empty() ? "" : hidden + " " + kRenormalisedNote});
    return selected;
}

std::size_t SelectedAttention::strongest(int head, std::size_t query) const {
    std::size_t best = 0;
    for (std::size_t key = 1; key < keys.size(); ++key) {
        if (weight(head, query, key) > weight(head, query, best)) {
            best = key;
        }
    }
    return best;
}

}  // namespace headscope
