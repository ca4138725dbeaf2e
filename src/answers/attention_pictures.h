// The attention of a record as text, JSON or a picture.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "figures/all_heads.h"
#include "figures/figure.h"
#include "paint/picture_file.h"

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
    double scale = kPictureScale;  // PNG pixels per unit of the drawing
    std::string title = {};        // instead of the drawing's own
    std::string caption = {};      // below it
};

// A picture, JSON, or by default text.
struct ShownFormat {
    const PictureFormat* picture = nullptr;
    bool json = false;
};

// Determined by the file's extension. An empty `output` is text; "-" is standard output in `format`, by default SVG.
// Error for an unknown extension, and for a format without "-".
ShownFormat shown_format(const std::string& output, const std::string& format);
// ".svg, .png, .pdf, .html or .json"
std::string shown_names();

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
std::string write_shown(const ShownAttention& shown, const PictureOptions& options, const ShownFormat& format);
// With the options' title and caption.
std::string write_picture(Drawing drawing, const PictureOptions& options, const PictureFormat& format);

}  // namespace headscope
