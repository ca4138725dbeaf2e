#include "cli/look/attention_pictures.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figures/heat_map.h"
#include "model/family.h"
#include "observe/attention_table.h"
#include "observe/head_statistics.h"
#include "observe/record_json.h"
#include "paint/png.h"
#include "paint/svg.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

int only_head(const SelectedAttention& content) {
    if (content.heads.size() != 1) {
        throw UsageError(
            fmt::format("--matrix shows one head, but {} are selected: choose one with --heads, from 1 to {}",
                        content.heads.size(), content.model_heads));
    }
    return content.heads.front();
}

const char* words_of(HeadOrder order) {
    switch (order) {
        case HeadOrder::Model: return "entropy in bits";
        case HeadOrder::Entropy: return "by entropy in bits, the least first";
        case HeadOrder::Distance: return "by mean distance in tokens, the greatest first";
        case HeadOrder::Sharpness: return "by sharpness, the mean of each query's largest weight";
        case HeadOrder::Diagonal: return "by the share of the diagonal and its neighbours";
    }
    return "";
}

std::string statistics_table(const AttentionRecord& record, AttentionKind kind, HeadOrder order) {
    std::string text =
        fmt::format("{:>5} {:>5} {:>9} {:>9} {:>8} {:>10} {:>9} {:>6}\n", "layer", "head", "entropy", "distance",
                    "offset", "sharpness", "diagonal", traits(record.family).reads_source ? "<EOS>" : "ends");
    for (const HeadTile& tile : head_tiles(head_statistics(record), kind, order)) {
        const HeadStatistics one = statistics_of(record, find_site(record, kind, tile.site.layer + 1), tile.head);
        text +=
            fmt::format("{:>5} {:>5} {:>9.2f} {:>9.2f} {:>+8.2f} {:>10.2f} {:>9.2f} {:>6.2f}\n", tile.site.layer + 1,
                        tile.head, one.entropy, one.distance, one.offset, one.sharpness, one.on_diagonal(), one.on_end);
    }
    return text + (record.edited.empty() ? "" : edited_note(record.edited) + "\n");
}

Drawing draw(const AttentionRecord& record, const AttentionSelection& selection, const PictureOptions& options) {
    const FigureOptions& figure = options.figure;
    if (options.picture == AttentionPicture::AllHeads) {
        return draw_all_heads(
            record, head_tiles(head_statistics(record), selection.kind, options.order),
            {.note = words_of(options.order), .rows = selection.rows, .palette = figure.palette, .look = figure.look});
    }
    const SelectedAttention content = select_attention(record, selection);
    if (options.picture == AttentionPicture::Matrix) {
        return draw_heat_map(content, only_head(content),
                             {.scale = options.logarithmic ? Scale::Logarithmic : Scale::Linear, .look = figure.look});
    }
    return draw_figure(content, figure);
}

std::string as_text(const AttentionRecord& record, const AttentionSelection& selection, const PictureOptions& options) {
    if (options.picture == AttentionPicture::AllHeads) {
        return statistics_table(record, selection.kind, options.order);
    }
    if (options.picture == AttentionPicture::Matrix) {
        const SelectedAttention content = select_attention(record, selection);
        return to_tsv(content, only_head(content));
    }
    return attention_table(record, selection);
}

std::string as_json(const AttentionRecord& record, const AttentionSelection& selection, const PictureOptions& options) {
    if (options.picture == AttentionPicture::AllHeads) {
        return to_json(record);
    }
    const SelectedAttention content = select_attention(record, selection);
    if (options.picture == AttentionPicture::Matrix) {
        only_head(content);
    }
    return to_json(content);
}

}  // namespace

PictureFormat picture_format(const std::string& output, const std::string& format) {
    constexpr std::pair<PictureFormat, const char*> kFormats[] = {
        {PictureFormat::Svg, "svg"}, {PictureFormat::Png, "png"}, {PictureFormat::Json, "json"}};
    if (output != "-") {
        if (!format.empty()) {
            throw UsageError(
                "--format is only for -o -; a file's format is given by its extension, .svg, .png or .json");
        }
        if (output.empty()) {
            return PictureFormat::Text;
        }
    }
    for (const auto& [known, name] : kFormats) {
        const std::string ending = fmt::format(".{}", name);
        if (output == "-" ? (format.empty() ? "svg" : format) == name
                          : output.size() > ending.size() && output.ends_with(ending)) {
            return known;
        }
    }
    throw UsageError(fmt::format("unknown format '{}'; use .svg, .png or .json", output == "-" ? format : output));
}

std::string write_picture(const AttentionRecord& record, const AttentionSelection& selection,
                          const PictureOptions& options, PictureFormat format) {
    switch (format) {
        case PictureFormat::Text: return as_text(record, selection, options);
        case PictureFormat::Svg: return to_svg(draw(record, selection, options));
        case PictureFormat::Png: return to_png(rasterise(draw(record, selection, options), options.scale));
        case PictureFormat::Json: return as_json(record, selection, options);
    }
    return {};
}

}  // namespace headscope
