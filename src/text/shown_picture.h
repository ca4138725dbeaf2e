// A picture that a model reads, to be shown.
#pragma once

#include <string>

#include "io/picture.h"
#include "text/picture_pieces.h"

namespace headscope {

// The picture of a file: square, in three colours, with as many pixels as the model reads or, where those are too few
// to see anything, as many whole patches of more. The errors of read_picture().
PixelPicture picture_to_show(const std::string& path, const PatchShape& shape);

}  // namespace headscope
