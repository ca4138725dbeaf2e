// Validates the bytes of a SentencePiece model before the library reads them.
#pragma once

#include <string>
#include <string_view>

#include "text/segmenter.h"

namespace headscope {

// The library follows the offsets of the normalization table without bounds checks, so a damaged file could make it
// read out of bounds. Error, naming `name`, for a file that is not a protocol buffer or whose table points outside
// itself.
TokenizerType check_model_file(std::string_view bytes, const std::string& name);

}  // namespace headscope
