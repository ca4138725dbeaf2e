// The mean of several checkpoints' parameters. Paper 6.1.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"

namespace headscope {

// into [total] = the mean of the "parameters" of the files, summed in double precision. Error names a file that cannot
// be read or has another size.
void average_checkpoints(Backend& backend, const std::vector<std::string>& files, const Tensor& into);

}  // namespace headscope
