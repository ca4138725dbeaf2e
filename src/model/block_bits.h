// Which weights of a model are held in blocks (tensor/blocks.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/precision.h"
#include "model/description.h"

namespace headscope {

// Bits of each code of what a file has in blocks, by the name of the parameter.
using BlocksInFile = std::map<std::string, int>;

// Bits for each parameter of the table, 0 for those that are not held in blocks. Those that are read as one matrix have
// the same: the most of any, or 0 if one of them has 0.
std::vector<int> block_bits(const std::vector<ParameterSpec>& table, const WeightStorage& storage,
                            const BlocksInFile& in_file);

}  // namespace headscope
