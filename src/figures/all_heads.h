// An overview of all heads as small pictures.
#pragma once

#include <string>
#include <vector>

#include "figures/head_order.h"
#include "figures/thumbnails.h"
#include "observe/head_statistics.h"
#include "paint/sketch.h"

namespace headscope {

// One small picture.
struct HeadTile {
    AttentionSite site;
    int head = 1;            // from 1
    std::string value = {};  // shown beside its name: "1.3 bits"; may be empty
    std::string tip = {};    // all statistics and the strongest pair of tokens
    bool off = false;        // it was switched off, so that its picture is empty
};

// The heads of one kind in an order. Those without a number, such as those that are switched off, are the last.
std::vector<HeadTile> head_tiles(const AttentionRecord& record, const std::vector<HeadStatistics>& statistics,
                                 AttentionKind kind, HeadOrder order);

struct AllHeadsOptions {
    int columns = 0;        // 0: the number of heads per layer, so that a row is a layer
    int group = 1;          // so many heads beside each other share keys and values: groups stand apart
    double tile = 9.0;      // width and height of a picture
    double width = 0.0;     // if not 0, pictures shrink to as little as kLeastTile so that a row fits into this width
    std::string note = {};  // explains the numbers; begins the note under the title
    bool lines = false;     // small figures as in the paper instead of heat maps
    RowOptions rows = {};
    Palette palette = Palette::Paper;
    Look look = {};
};

constexpr double kLeastTile = 4.0;  // holds "L24 H16"

// Draws the tiles, heads of the thumbnails' kind, row by row. Heat maps larger than kTileCells per side are max-pooled.
// The note names edits, joined pieces and hidden tokens. A tile's frame has layer, head and item, its index in `tiles`.
Drawing draw_all_heads(const Thumbnails& thumbnails, const std::vector<HeadTile>& tiles,
                       const AllHeadsOptions& options);
// The same, for tiles of one kind.
Drawing draw_all_heads(const AttentionRecord& record, const std::vector<HeadTile>& tiles,
                       const AllHeadsOptions& options);

}  // namespace headscope
