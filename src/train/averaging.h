// The mean of several checkpoints' parameters. Paper 6.1.
#pragma once

#include <vector>

#include "backend/backend.h"
#include "train/checkpoint.h"

namespace headscope {

// Sets `into` [total] to the mean of the "parameters" of the files, summed in double precision. Error names a file of
// another size.
void average_checkpoints(Backend& backend, const std::vector<Checkpoint>& files, const Tensor& into);

}  // namespace headscope
