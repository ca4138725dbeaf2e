// How a picture becomes the positions of a stack: a vector of normalised pixels for each of its patches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/picture_pieces.h"

namespace headscope {

struct PatchGrid {
    PatchShape shape;
    bool class_token = false;  // a position of its own before those of the patches
    // Of each channel: a value v from 0 to 1 is read as (v - mean) / deviation.
    std::vector<float> mean, deviation;

    std::int64_t positions() const { return shape.patches() + (class_token ? 1 : 0); }
    // The vectors of a picture with these ids (PicturePieces): [positions, values], 0 for the class token.
    std::vector<float> vectors(std::span<const std::int32_t> ids) const;
    bool operator==(const PatchGrid&) const = default;
};

}  // namespace headscope
