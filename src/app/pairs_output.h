// Writes train.tsv, valid.tsv and test.tsv.
#pragma once

#include <string>

#include "data/split.h"

namespace headscope {

// Each file is written whole or not at all; the folder is made where it is missing. Prints what was written.
void write_split(const std::string& folder, const Split& split);

}  // namespace headscope
