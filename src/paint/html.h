// Writes a drawing as a self-contained page that answers the pointer: no external references.
#pragma once

#include <string>

#include "paint/drawing.h"

namespace headscope {

// Pointing at a part shows its tooltip at once; pointing at a word, a head or a line leaves only the lines that share
// its words and head, and a click keeps them.
std::string to_html(const Drawing& drawing);

}  // namespace headscope
