// The mean of several checkpoints' parameters. Paper 6.1.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "train/checkpoint.h"

namespace headscope {

// The mean of flat parameters [total], summed in double precision.
class AverageWeights {
public:
    explicit AverageWeights(std::int64_t total) : sums_(static_cast<std::size_t>(total)) {}

    // The "parameters" of a checkpoint. Error, naming the file, if it has another size.
    void add(const Checkpoint& file);
    void add(const std::vector<float>& parameters);
    void store(Backend& backend, const Tensor& into) const;

private:
    std::vector<double> sums_;
    std::int64_t count_ = 0;
};

// Sets `into` [total] to the mean of the files.
void average_checkpoints(Backend& backend, const std::vector<Checkpoint>& files, const Tensor& into);

}  // namespace headscope
