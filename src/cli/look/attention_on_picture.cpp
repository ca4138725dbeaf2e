#include "cli/look/attention_on_picture.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "figures/patch_map.h"
#include "io/picture.h"
#include "model/frame_of_config.h"
#include "observe/family_labels.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

// The weights of one query, or the mean over some, on the patches; of these heads the mean.
std::vector<float> weights_of(const SelectedAttention& selected, const std::vector<int>& heads,
                              const std::vector<std::size_t>& queries, std::size_t before) {
    std::vector<float> weights(selected.keys.size() - before, 0.0F);
    for (const int head : heads) {
        for (const std::size_t query : queries) {
            for (std::size_t patch = 0; patch < weights.size(); ++patch) {
                weights[patch] += selected.weight(head, query, before + patch);
            }
        }
    }
    for (float& weight : weights) {
        weight /= static_cast<float>(heads.size() * queries.size());
    }
    return weights;
}

std::vector<std::size_t> all_queries(const SelectedAttention& selected) {
    std::vector<std::size_t> all;
    for (std::size_t query = 0; query < selected.queries.size(); ++query) {
        all.push_back(query);
    }
    return all;
}

std::string title_of(const SelectedAttention& selected, const std::vector<std::size_t>& queries, bool words) {
    if (queries.size() > 1) {
        return words ? "What the words look at on average" : "What the patches look at on average";
    }
    const std::string& label = selected.queries[queries.front()].label;
    return fmt::format("What {} looks at", words                ? fmt::format("\"{}\"", label)
                                           : label == "[class]" ? "the class token"
                                                                : "the patch " + label);
}

}  // namespace

void choose_patch(const AttentionOptions& options, const ModelConfig& config, AttentionSelection& selection) {
    const PatchGrid grid = *patches_of(config);
    const auto side = static_cast<int>(grid.shape.side());
    const int before = grid.class_token ? 1 : 0;
    selection.rows.show_special = true;
    if (selection.kind != AttentionKind::EncoderSelf) {
        if (!options.at.empty()) {
            throw UsageError("--at chooses a patch that looks at others: give --kind encoder");
        }
        return;
    }
    if (!options.at.empty()) {
        const int row = options.at[0];
        const int column = options.at[1];
        if (row < 1 || row > side || column < 1 || column > side) {
            throw UsageError(fmt::format("--at {},{}: the picture has {} x {} patches", row, column, side, side));
        }
        selection.positions = {before + (row - 1) * side + column};
    } else if (grid.class_token && selection.words.empty() && selection.positions.empty()) {
        selection.positions = {1};
    }
}

std::string draw_on_picture(const AttentionOptions& options, const ModelConfig& config, const AttentionRecord& record,
                            const AttentionSelection& selection, const PictureFormat& format) {
    const PatchGrid grid = *patches_of(config);
    const std::size_t before = grid.class_token ? 1 : 0;
    const bool words = selection.kind == AttentionKind::Cross;
    if (selection.kind == AttentionKind::DecoderSelf) {
        throw UsageError("the words of a caption look at words with --kind decoder: give --matrix, or --kind cross");
    }
    const FigureOptions& figure = options.picture.figure;
    if (figure.least > 0.0 || figure.top > 0 || figure.numbers || figure.probabilities || options.class_token) {
        throw UsageError(
            "--least, --top, --numbers, --probabilities and --class-token are for texts: leave them out (a picture's "
            "heads show the class token unless --at names a patch)");
    }
    const SelectedAttention selected = select_attention(record, selection);
    constexpr int kChannels = 3;
    constexpr int kLeastPixels = 56;  // of a side, to show a picture that the model reads in fewer
    const auto side = static_cast<int>(grid.shape.side());
    const int pixels = side * std::max(static_cast<int>(grid.shape.patch), kLeastPixels / side);
    PatchMap map{.picture = resized(read_picture(options.request.text, kChannels), pixels, pixels), .side = side};
    const std::string layer = layer_label(record.family, {selection.kind, selection.layer - 1});
    if (words && selected.chosen.empty()) {
        for (std::size_t query = 0; query < selected.queries.size(); ++query) {
            map.tiles.push_back({selected.queries[query].label, weights_of(selected, selected.heads, {query}, before)});
        }
        map.title = fmt::format("What each word looks at, {}", layer);
        map.note = fmt::format("The mean of {} heads. --word chooses a word, of which each head is drawn.",
                               selected.heads.size());
    } else {
        const std::vector<std::size_t> queries = selected.chosen.empty() ? all_queries(selected) : selected.chosen;
        for (const int head : selected.heads) {
            map.tiles.push_back({fmt::format("head {}", head), weights_of(selected, {head}, queries, before), head});
        }
        if (!words && queries.size() == 1 && queries.front() >= before) {
            map.looks_from = static_cast<int>(queries.front() - before);
        }
        map.title = fmt::format("{}, {}", title_of(selected, queries, words), layer);
        map.note = before > 0 ? "What a head gives to the class token is not drawn." : "";
    }
    map.description = fmt::format(
        "{}: a picture of {} x {} patches, and beside it {} copies in grey on which colours "
        "are the weights of its patches.",
        map.title, map.side, map.side, map.tiles.size());
    return write_picture(draw_patch_map(map, options.picture.figure.look), options.picture, format);
}

}  // namespace headscope
