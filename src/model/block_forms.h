// Which weights of a model are held in blocks (tensor/blocks.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend/precision.h"
#include "model/description.h"
#include "tensor/blocks.h"

namespace headscope {

// The forms of what a file has in blocks, by the name of the parameter.
using BlocksInFile = std::map<std::string, BlockForm>;

// The form of each parameter of the table, of 0 bits for those that are not held in blocks. Those that are read as one
// matrix have the same: the most bits of any, with factors if one has them, or 0 bits if one of them has 0.
std::vector<BlockForm> block_forms(const std::vector<ParameterSpec>& table, const WeightStorage& storage,
                                   const BlocksInFile& in_file);

}  // namespace headscope
