#include "figures/picture_attention.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/frame_of_config.h"
#include "observe/family_labels.h"
#include "support/check.h"

namespace headscope {

namespace {

// The chosen columns, or all.
std::vector<std::size_t> chosen_or_all_of(const std::vector<std::size_t>& chosen, std::size_t all) {
    std::vector<std::size_t> columns = chosen;
    if (columns.empty()) {
        columns.resize(all);
        std::iota(columns.begin(), columns.end(), std::size_t{0});
    }
    return columns;
}

// A number for each patch: the mean over these heads of the weights of these queries on it or, if a key is given, of
// the patch's own weight on that key.
std::vector<float> weights_of(const SelectedAttention& selected, const std::vector<int>& heads,
                              const std::vector<std::size_t>& queries, std::size_t before) {
    std::vector<float> weights(selected.keys.size() - before, 0.0F);
    const bool looked_at = !selected.chosen_keys.empty();
    const std::vector<std::size_t>& others = looked_at ? selected.chosen_keys : queries;
    for (const int head : heads) {
        for (const std::size_t other : others) {
            for (std::size_t patch = 0; patch < weights.size(); ++patch) {
                weights[patch] += looked_at ? selected.weight(head, before + patch, other)
                                            : selected.weight(head, other, before + patch);
            }
        }
    }
    for (float& weight : weights) {
        weight /= static_cast<float>(heads.size() * others.size());
    }
    return weights;
}

std::string title_of(const SelectedAttention& selected, bool words) {
    if (!selected.chosen_keys.empty()) {
        return fmt::format("What looks at {}", name_of_patch(selected.keys[selected.chosen_keys.front()]));
    }
    if (selected.chosen.size() == 1) {
        const RowItem& chosen = selected.queries[selected.chosen.front()];
        return fmt::format("What {} looks at", words ? fmt::format("\"{}\"", chosen.label) : name_of_patch(chosen));
    }
    return words ? "What the words look at on average" : "What the patches look at on average";
}

constexpr const char* kNotDrawn = "What a head gives to the class token is not drawn.";

PatchMap empty_map(const ModelConfig& config, PixelPicture picture) {
    return {.picture = std::move(picture),
            .side = static_cast<int>(patches_of(config)->shape.side()),
            .keys_before = config.input.class_token ? 1 : 0};
}

void describe(PatchMap& map) {
    map.description = fmt::format(
        "{}: a picture of {} x {} patches, and beside it {} copies in grey on which colours "
        "are the weights of its patches.",
        map.title, map.side, map.side, map.tiles.size());
}

}  // namespace

bool looks_at_patches(const ModelConfig& config, AttentionKind kind) {
    return config.input.patches() && kind != AttentionKind::DecoderSelf;
}

std::string name_of_patch(const RowItem& item) {
    return item.label == "[class]" ? "the class token" : "the patch " + item.label;
}

PatchMap map_attention(const SelectedAttention& selected, AttentionKind kind, const ModelConfig& config,
                       PixelPicture picture) {
    HEADSCOPE_CHECK(looks_at_patches(config, kind), "only attention over patches is drawn on a picture");
    const auto before = static_cast<std::size_t>(config.input.class_token ? 1 : 0);
    const bool words = kind == AttentionKind::Cross;
    PatchMap map = empty_map(config, std::move(picture));
    const std::string layer = layer_label(config.architecture, {kind, selected.layer - 1});
    if (words && selected.chosen.empty()) {
        for (std::size_t query = 0; query < selected.queries.size(); ++query) {
            map.tiles.push_back({.label = selected.queries[query].label,
                                 .weights = weights_of(selected, selected.heads, {query}, before),
                                 .query = static_cast<int>(query)});
        }
        map.title = fmt::format("What each word looks at, {}", layer);
        map.note = selected.heads.size() == 1 ? fmt::format("Head {}.", selected.heads.front())
                                              : fmt::format("The mean of {} heads.", selected.heads.size());
    } else {
        const std::vector<std::size_t> queries = chosen_or_all_of(selected.chosen, selected.queries.size());
        for (const int head : selected.heads) {
            map.tiles.push_back({.label = fmt::format("head {}", head),
                                 .weights = weights_of(selected, {head}, queries, before),
                                 .head = head});
        }
        const std::vector<std::size_t>& chosen = selected.chosen_keys.empty() ? selected.chosen : selected.chosen_keys;
        if (!words && chosen.size() == 1 && chosen.front() >= before) {
            map.looks_from = static_cast<int>(chosen.front() - before);
        }
        map.title = fmt::format("{}, {}", title_of(selected, words), layer);
        map.note = before > 0 && selected.chosen_keys.empty() ? kNotDrawn : "";
    }
    map.note += (map.note.empty() || selected.note.empty() ? "" : " ") + selected.note;
    describe(map);
    return map;
}

PatchMap map_heads(const AttentionRecord& record, const std::vector<HeadTile>& tiles, AttentionSelection selection,
                   const ModelConfig& config, PixelPicture picture) {
    constexpr double kSmallTile = 5.5;
    constexpr double kTileWithValue = 8.0;
    const bool values = std::ranges::any_of(tiles, [](const HeadTile& tile) { return !tile.value.empty(); });
    const auto before = static_cast<std::size_t>(config.input.class_token ? 1 : 0);
    PatchMap map = empty_map(config, std::move(picture));
    map.tile = values ? kTileWithValue : kSmallTile;
    map.apart = true;
    std::map<int, SelectedAttention> layers;
    for (const HeadTile& tile : tiles) {
        selection.layer = tile.site.layer + 1;
        auto found = layers.find(selection.layer);
        if (found == layers.end()) {
            found = layers.emplace(selection.layer, select_attention(record, selection)).first;
        }
        const SelectedAttention& selected = found->second;
        map.tiles.push_back(
            {.label = fmt::format("L{} H{}{}{}", selection.layer, tile.head, values ? "  " : "", tile.value),
             .weights =
                 weights_of(selected, {tile.head}, chosen_or_all_of(selected.chosen, selected.queries.size()), before),
             .head = tile.head,
             .layer = selection.layer,
             .tip = tile.tip});
    }
    const SelectedAttention& any = layers.begin()->second;
    map.columns = any.model_heads;
    map.title = title_of(any, selection.kind == AttentionKind::Cross);
    map.note = before > 0 && any.chosen_keys.empty() ? kNotDrawn : "";
    map.note += (map.note.empty() || any.note.empty() ? "" : " ") + any.note;
    describe(map);
    return map;
}

}  // namespace headscope
