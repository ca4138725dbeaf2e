// Every head of every layer at a glance.
#pragma once

#include <string>
#include <vector>

#include "observe/head_statistics.h"
#include "observe/selection.h"
#include "paint/sketch.h"

namespace headscope {

// One small picture.
struct HeadTile {
    AttentionSite site;
    int head = 1;            // from 1
    std::string value = {};  // beside its name: "1.3 bits"; may be empty
    std::string tip = {};    // the same in words: "entropy 1.32 bits"
};

enum class HeadOrder : std::uint8_t { Model, Entropy, Distance, Sharpness, Diagonal };
const char* name_of(HeadOrder order);
// "model", "entropy", "distance", "sharpness", "diagonal"; Error names these for anything else.
HeadOrder parse_head_order(const std::string& name);
// The heads of one kind: as the model has them, or the least entropy, the greatest distance, sharpness or share of the
// diagonal first.
std::vector<HeadTile> head_tiles(const AttentionRecord& record, AttentionKind kind, HeadOrder order);

struct AllHeadsOptions {
    int columns = 0;        // 0: as many as a layer has heads, so that a row is a layer
    double tile = 9.0;      // width and height of a picture
    std::string note = {};  // what the numbers are: begins the note under the title
    bool lines = false;     // small figures in the paper's manner instead of heat-maps
    RowOptions rows = {};
    Palette palette = Palette::Paper;
    Look look = {};
};

// The pictures row by row in the tiles' order. A heat-map larger than kTileCells a side is made smaller: each of its
// cells shows the largest of the weights it stands for. The note says what was edited, joined and left out. A tile's
// frame has layer, head and item, its place in `tiles`.
constexpr std::size_t kTileCells = 24;
Drawing draw_all_heads(const AttentionRecord& record, const std::vector<HeadTile>& tiles,
                       const AllHeadsOptions& options);

// A matrix of [rows, columns] made at most `most` a side by taking the largest of each block.
struct SmallMatrix {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<float> values;
};
SmallMatrix made_smaller(const float* values, std::size_t rows, std::size_t columns, std::size_t most);

}  // namespace headscope
