// Section 3.5: position as sines and cosines of geometrically spaced wavelengths.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "model/config.h"

namespace headscope {

// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(the same), or another layout, for `length` positions from
// `first` on; row-major [length, d_model].
std::vector<double> sinusoid_table(std::int64_t length, std::int64_t d_model, SinusoidLayout layout,
                                   std::int64_t first = 0);

// The table on a device. It grows when a longer one is requested.
class Sinusoids {
public:
    explicit Sinusoids(const ModelConfig& config)
        : d_model_(config.d_model), layout_(config.sinusoid_layout), first_(config.first_position) {}

    // [at least length, d_model]
    const Tensor& table(Backend& backend, std::int64_t length);

private:
    std::int64_t d_model_;
    SinusoidLayout layout_;
    std::int64_t first_;
    Tensor table_;
};

}  // namespace headscope
