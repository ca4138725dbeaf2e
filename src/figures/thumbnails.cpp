#include "figures/thumbnails.h"

#include <algorithm>

#include "support/parallel.h"

namespace headscope {

namespace {

constexpr float kFaintestLine = 0.1F;  // in a small figure; keeps the number of lines down

// Of all layers, from that of one: "Input-Input Layer1", perhaps ", rollout".
std::string title_of(const std::string& one) {
    const std::size_t layer = one.find(" Layer");
    const std::size_t comma = one.find(',', layer);
    return one.substr(0, layer) + (comma == std::string::npos ? "" : one.substr(comma)) + ", all heads";
}

Thumbnail thumbnail_of(const SelectedAttention& content, int head, bool lines) {
    const std::size_t rows = content.queries.size();
    const std::size_t columns = content.keys.size();
    const float* weights = content.weights.data() + content.index(head, 0, 0);
    if (!lines) {
        return {.cells = max_pooled(weights, rows, columns, kTileCells)};
    }
    Thumbnail thumbnail{.columns = std::max(rows, columns)};
    for (std::size_t at = 0; at < rows * columns; ++at) {
        if (weights[at] >= kFaintestLine) {
            thumbnail.strokes.push_back({at / columns, at % columns, weights[at]});
        }
    }
    return thumbnail;
}

}  // namespace

SmallMatrix max_pooled(const float* values, std::size_t rows, std::size_t columns, std::size_t most) {
    SmallMatrix small{std::min(rows, most), std::min(columns, most), {}};
    small.values.assign(small.rows * small.columns, 0.0F);
    for (std::size_t row = 0; row < rows; ++row) {
        float* to = small.values.data() + row * small.rows / rows * small.columns;
        const float* from = values + row * columns;
        for (std::size_t column = 0; column < small.columns; ++column) {
            // The columns c with c * small.columns / columns == column.
            const std::size_t first = (column * columns + small.columns - 1) / small.columns;
            const std::size_t end = ((column + 1) * columns + small.columns - 1) / small.columns;
            for (std::size_t c = first; c < end; ++c) {
                to[column] = std::max(to[column], from[c]);
            }
        }
    }
    return small;
}

Thumbnails reduce_heads(const AttentionRecord& record, AttentionKind kind, bool lines, const RowOptions& rows) {
    Thumbnails found;
    found.ends = ends_of(record);
    for (const SiteWeights& weights : record.sites) {
        if (weights.site.kind != kind) {
            continue;
        }
        // One layer after another, since joining copies its weights.
        const SelectedAttention content =
            select_attention(record, {.kind = kind, .layer = weights.site.layer + 1, .rows = rows});
        found.title = title_of(content.title);
        found.note = content.note;  // the same for all layers
        found.altered = content.joined || content.renormalised;
        const auto layer = static_cast<std::size_t>(weights.site.layer);
        found.layers.resize(std::max(found.layers.size(), layer + 1));
        std::vector<Thumbnail>& heads = found.layers[layer];
        heads.resize(static_cast<std::size_t>(content.model_heads));
        in_parallel(heads.size(), 1, [&](std::size_t first, std::size_t end) {
            for (; first < end; ++first) {
                heads[first] = thumbnail_of(content, static_cast<int>(first) + 1, lines);
            }
        });
    }
    return found;
}

}  // namespace headscope
