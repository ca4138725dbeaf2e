// Section 3.5: position as sines and cosines of geometrically spaced wavelengths, and what one could use instead
// without learning it: plain numbers.
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

// The tables of fixed positions on a device: sinusoids, indices or normalised indices. They grow when longer ones are
// requested.
class Sinusoids {
public:
    explicit Sinusoids(const ModelConfig& config);

    bool fixed() const { return kind_ == Positions::Sinusoid || counts(); }
    std::int64_t columns() const { return columns_; }
    // [at least length, columns()]. An index is a position's number, a normalised one that divided by max_length - 1.
    const Tensor& table(Backend& backend, std::int64_t length);
    // As it is; it may be undefined.
    const Tensor& table() const { return table_; }
    // Indices of each text divided by the largest of its own: [batch, length, columns()] for lengths I32 [batch].
    Tensor by_length(Backend& backend, const Tensor& lengths, std::int64_t length);

private:
    bool counts() const { return kind_ == Positions::Index || kind_ == Positions::Normalised; }

    Positions kind_;
    std::int64_t columns_;
    SinusoidLayout layout_;
    std::int64_t first_;
    double step_;  // between indices
    Tensor table_;
    Tensor steps_;  // [at least length + 1, columns()]: the step of a text of that length, divided by step_
};

}  // namespace headscope
