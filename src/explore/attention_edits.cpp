#include "explore/attention_edits.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "observe/family_labels.h"

namespace headscope {

namespace {

// Counts the tokens that can be attended to: all but the padding.
std::int64_t tokens_of(const std::vector<RecordedToken>& row) {
    return std::count_if(row.begin(), row.end(),
                         [](const RecordedToken& token) { return token.kind != TokenKind::Pad; });
}

// Whether a row of the edit has weight on a later token. True if the weights were not recorded.
bool looks_ahead(const AttentionEdit& edit, const AttentionRecord& record) {
    const auto found = std::ranges::find(record.sites, edit.site, &SiteWeights::site);
    if (found == record.sites.end()) {
        return true;
    }
    const std::int64_t first = std::max(edit.query, 0);
    const std::int64_t last = edit.query < 0 ? found->queries - 1 : edit.query;
    for (std::int64_t query = first; query <= last; ++query) {
        for (std::int64_t key = query + 1; key < found->keys; ++key) {
            if (found->at(edit.head - 1, query, key) > 0.0F) {
                return true;
            }
        }
    }
    return false;
}

bool has_effect(const AttentionEdit& edit, const AttentionRecord& record) {
    const auto queries = static_cast<std::int64_t>(query_tokens(record, edit.site.kind).size());
    if (edit.query >= queries) {
        return false;
    }
    if (edit.kind == EditKind::Unmasked) {
        return looks_ahead(edit, record);
    }
    if (edit.kind != EditKind::Pin) {
        return true;
    }
    // Decoder token q attends to tokens 0 to q, so the last row sees the most.
    const std::int64_t keys = edit.site.kind != AttentionKind::DecoderSelf ? tokens_of(record.source)
                              : edit.query < 0                             ? queries
                                                                           : edit.query + 1;
    return edit.key < keys;
}

}  // namespace

std::string describe(const AttentionEdit& edit, Architecture family) {
    std::string text = fmt::format("{}, head {}: ", layer_label(family, edit.site), edit.head);
    text[0] = static_cast<char>(std::toupper(text[0]));
    switch (edit.kind) {
        case EditKind::Off: text += "off"; break;
        case EditKind::Uniform: text += "uniform"; break;
        case EditKind::Unmasked: text += "no causal mask"; break;
        case EditKind::Pin: text += fmt::format("looks at token {}", edit.key + 1); break;
    }
    return edit.query < 0 ? text : text + fmt::format(" (from token {})", edit.query + 1);
}

std::string describe(const std::vector<AttentionEdit>& edits, Architecture family) {
    std::string text;
    for (const AttentionEdit& edit : edits) {
        text += (text.empty() ? "" : "; ") + describe(edit, family);
    }
    return text;
}

bool reads_ahead(const std::vector<AttentionEdit>& edits) {
    return std::ranges::any_of(edits, [](const AttentionEdit& edit) { return edit.kind == EditKind::Unmasked; });
}

std::vector<AttentionEdit> without_effect(const std::vector<AttentionEdit>& edits, const AttentionRecord& record) {
    std::vector<AttentionEdit> idle;
    std::copy_if(edits.begin(), edits.end(), std::back_inserter(idle),
                 [&](const AttentionEdit& edit) { return !has_effect(edit, record); });
    return idle;
}

}  // namespace headscope
