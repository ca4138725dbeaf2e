// Output of headscope attention: text, SVG, PNG, HTML or JSON.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "figures/all_heads.h"
#include "figures/figure.h"

namespace headscope {

enum class AttentionPicture : std::uint8_t {
    Figure,    // the paper's
    Matrix,    // one head as a heat map
    AllHeads,  // every head of every layer
};

struct PictureOptions {
    AttentionPicture picture = AttentionPicture::Figure;
    bool logarithmic = false;  // Matrix
    HeadOrder order = HeadOrder::Model;
    int group = 1;  // AllHeads: so many heads share keys and values
    FigureOptions figure = {};
    double scale = 2.0;  // PNG pixels per unit of the drawing
};

enum class PictureFormat : std::uint8_t { Text, Svg, Png, Html, Json };
constexpr bool is_drawn(PictureFormat format) {
    return format != PictureFormat::Text && format != PictureFormat::Json;
}

// Determined by the file's extension. An empty `output` is text; "-" is standard output in `format` ("svg", "png",
// "html" or "json"). Error for an unknown extension, and for a format without "-".
PictureFormat picture_format(const std::string& output, const std::string& format);

// What is selected of a record, to be drawn or written.
struct ShownFigure {
    SelectedAttention attention;
};
struct ShownHead {
    SelectedAttention attention;
    int head = 1;
};
struct ShownHeads {
    const AttentionRecord& record;
    std::vector<HeadTile> tiles;
    RowOptions rows;
};
using ShownAttention = std::variant<ShownFigure, ShownHead, ShownHeads>;

// Keeps a reference to the record. Error for a matrix unless exactly one head is selected.
ShownAttention select_shown(const AttentionRecord& record, const AttentionSelection& selection,
                            const PictureOptions& options);

// The bytes to write. Text: a table of the largest weights, a matrix as tab-separated numbers, or every head's
// statistics. JSON: the figure's rows and weights, or for all heads the whole record.
std::string write_shown(const ShownAttention& shown, const PictureOptions& options, PictureFormat format);
// As SVG, PNG or HTML.
std::string write_picture(const Drawing& drawing, double scale, PictureFormat format);

}  // namespace headscope
