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
};

struct PatchMap {
    PixelPicture picture;                  // square, with three channels
    int side = 1;                          // patches of a row
    std::optional<int> looks_from = {};    // the patch whose attention this is
    std::vector<PatchWeights> tiles = {};  // at least one
    std::string title = {};
    std::string description = {};
    std::string note = {};
};

// The picture, and for each tile the picture in grey with the weights on it as colours, of one scale: its end is the
// greatest weight of all tiles.
Drawing draw_patch_map(const PatchMap& map, const Look& look);

}  // namespace headscope
