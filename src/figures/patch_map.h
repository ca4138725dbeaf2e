// Attention over the patches of a picture, drawn on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/picture.h"
#include "paint/sketch.h"

namespace headscope {

// What one head, or one word of a caption, looks at.
struct PatchWeights {
    std::string label;
    std::vector<float> weights = {};  // of each patch, row by row
    int head = 0;                     // from 1; 0: of several
    int query = -1;                   // the word's column; -1: of no word
    int layer = 0;                    // from 1; 0: the title says it
    std::string tip = {};             // of the whole tile
};

struct PatchMap {
    PixelPicture picture;                  // square, with three channels
    int side = 1;                          // patches of a row
    std::optional<int> looks_from = {};    // the patch whose attention this is
    std::vector<PatchWeights> tiles = {};  // at least one
    std::string title = {};
    std::string description = {};
    std::string note = {};
    int columns = 4;      // tiles beside one another
    double tile = 11.0;   // the side of a tile, in text sizes
    bool apart = false;   // the picture has a row of its own
    int keys_before = 0;  // the key column of the first patch
};
constexpr double kPatchMapGap = 1.2;  // between tiles, in text sizes

// The picture, and for each tile the picture in grey with the weights on it as colours, of one scale: its end is the
// greatest weight of all tiles. Of a patch of the picture (Role::Block) and of a tile (Role::Cell) the mark has the key
// column; that of the picture also as its item, that of a tile also its head, layer and query. A tile's frame has
// its head, layer and tooltip.
Drawing draw_patch_map(const PatchMap& map, const Look& look);

}  // namespace headscope
