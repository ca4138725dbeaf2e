// A look at a SentencePiece model's bytes before the library trusts them.
#pragma once

#include <string>
#include <string_view>

namespace headscope {

// The library follows the offsets of a model's normalisation table without looking where they lead, so a damaged file
// could make it read outside its memory. Error, naming `name`, for a file that is no protocol buffer or whose table
// leads astray.
void check_model_file(std::string_view bytes, const std::string& name);

}  // namespace headscope
