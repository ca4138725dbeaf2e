// A request as a batch of equal rows, to run it with a different change in each.
#pragma once

#include <cstdint>

#include "data/device_batch.h"
#include "explore/checked_request.h"

namespace headscope {

// The first row `count` times: x [1, ..], result [count, ..].
Tensor repeated(Backend& backend, const Tensor& x, std::int64_t count);

class RepeatedRequest {
public:
    // The request has a target, or a class.
    RepeatedRequest(Backend& backend, const ModelConfig& config, const CheckedRequest& request);

    // Tokens of the longer side, with padding, and of the target.
    std::int64_t longest() const;
    std::int64_t target_length() const { return one_.target.length(); }
    // Without predictions.
    DeviceBatch rows(std::int64_t count) const;

private:
    Backend& backend_;
    DeviceBatch one_;
};

}  // namespace headscope
