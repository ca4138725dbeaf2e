#include "answers/attention_pictures.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figures/heat_map.h"
#include "model/family.h"
#include "observe/attention_table.h"
#include "observe/head_statistics.h"
#include "observe/record_json.h"
#include "paint/compose.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

int only_head(const SelectedAttention& content) {
    if (content.heads.size() != 1) {
        throw UsageError(fmt::format("a matrix shows one head, but {} are selected: choose one of the heads 1 to {}",
                                     content.heads.size(), content.model_heads));
    }
    return content.heads.front();
}

struct DrawnBy {
    const PictureOptions& options;

    Drawing operator()(const ShownFigure& shown) const {
        const auto is_chosen = [](const RowItem& item) { return item.probability.has_value(); };
        if (options.figure.probabilities && std::ranges::none_of(shown.attention.queries, is_chosen)) {
            throw UsageError(
                "--probabilities are those of words that the model wrote: take the cross-attention of a translation "
                "without --target");
        }
        return draw_figure(shown.attention, options.figure);
    }
    Drawing operator()(const ShownHead& shown) const {
        return draw_heat_map(
            shown.attention, shown.head,
            {.scale = options.logarithmic ? Scale::Logarithmic : Scale::Linear, .look = options.figure.look});
    }
    Drawing operator()(const ShownHeads& shown) const {
        return draw_all_heads(shown.record, shown.tiles,
                              {.group = options.order == HeadOrder::Model ? options.group : 1,
                               .note = row_of(options.order).legend,
                               .rows = shown.rows,
                               .palette = options.figure.palette,
                               .look = options.figure.look});
    }
};

struct AsText {
    std::string operator()(const ShownFigure& shown) const { return attention_table(shown.attention); }
    std::string operator()(const ShownHead& shown) const { return to_tsv(shown.attention, shown.head); }
    std::string operator()(const ShownHeads& shown) const {
        const AttentionRecord& record = shown.record;
        std::vector<HeadStatistics> rows;
        for (const HeadTile& tile : shown.tiles) {
            rows.push_back(statistics_of(record, find_site(record, tile.site.kind, tile.site.layer + 1), tile.head));
        }
        const bool repeats = std::ranges::any_of(rows, [](const HeadStatistics& one) { return one.repeated > 0; });
        std::string text = fmt::format("{:>5} {:>5} {:>9} {:>9} {:>8} {:>10} {:>9} {:>9} {:>6}{}\n", "layer", "head",
                                       "entropy", "distance", "offset", "sharpness", "diagonal", "previous",
                                       traits(record.family).reads_source ? "<EOS>" : "ends",
                                       repeats ? fmt::format(" {:>10} {:>10}", "induction", "duplicate") : "");
        for (const HeadStatistics& one : rows) {
            text += fmt::format("{:>5} {:>5} {:>9.2f} {:>9.2f} {:>+8.2f} {:>10.2f} {:>9.2f} {:>9.2f} {:>6.2f}{}\n",
                                one.site.layer + 1, one.head, one.entropy, one.distance, one.offset, one.sharpness,
                                one.on_diagonal(), one.on_previous(), one.on_end,
                                repeats ? fmt::format(" {:>10.2f} {:>10.2f}", one.induction, one.duplicate) : "");
        }
        return text + (record.edited.empty() ? "" : edited_note(record.edited) + "\n");
    }
};

struct AsJson {
    std::string operator()(const ShownFigure& shown) const { return to_json(shown.attention); }
    std::string operator()(const ShownHead& shown) const { return to_json(shown.attention); }
    std::string operator()(const ShownHeads& shown) const { return to_json(shown.record); }
};

}  // namespace

std::string shown_names() {
    return picture_names(".json");
}

ShownFormat shown_format(const std::string& output, const std::string& format) {
    if (output != "-" && !format.empty()) {
        throw UsageError(
            fmt::format("--format is only for -o -; a file's format is given by its extension, {}", shown_names()));
    }
    if (output.empty()) {
        return {};
    }
    const std::string name = output == "-" ? "-." + (format.empty() ? "svg" : format) : output;
    const ShownFormat shown{.picture = picture_format_of(name), .json = name.ends_with(".json")};
    if (shown.picture == nullptr && !shown.json) {
        throw UsageError(fmt::format("unknown format '{}'; use {}", output == "-" ? format : output, shown_names()));
    }
    return shown;
}

ShownAttention select_shown(const AttentionRecord& record, const AttentionSelection& selection,
                            const PictureOptions& options) {
    if (options.picture == AttentionPicture::AllHeads) {
        return ShownHeads{record, head_tiles(record, head_statistics(record), selection.kind, options.order),
                          selection.rows};
    }
    SelectedAttention attention = select_attention(record, selection);
    if (options.picture == AttentionPicture::Matrix) {
        const int head = only_head(attention);
        return ShownHead{std::move(attention), head};
    }
    return ShownFigure{std::move(attention)};
}

std::string write_picture(Drawing drawing, const PictureOptions& options, const PictureFormat& format) {
    if (!options.title.empty()) {
        drawing = retitled(std::move(drawing), options.title);
    }
    if (!options.caption.empty()) {
        drawing = captioned(std::move(drawing), options.caption, options.figure.look);
    }
    return format.written(drawing, options.scale);
}

std::string write_shown(const ShownAttention& shown, const PictureOptions& options, const ShownFormat& format) {
    return format.picture != nullptr ? write_picture(std::visit(DrawnBy{options}, shown), options, *format.picture)
           : format.json             ? std::visit(AsJson{}, shown)
                                     : std::visit(AsText{}, shown);
}

}  // namespace headscope
