// How alike vectors are, and which of many are the most alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope {

// The cosine of the angle between two vectors of the same size, from -1 to 1. That with a vector of zeros is 0.
double cosine_of(std::span<const float> a, std::span<const float> b);

// A vector among many, counted from 0 in the order in which they were added.
struct NearVector {
    std::size_t number = 0;
    double cosine = 0.0;
};

// Finds the nearest of many vectors, which it does not keep.
class NearestVectors {
public:
    // `queries`: [.., columns]. Keeps the `most` nearest of each.
    NearestVectors(std::vector<float> queries, std::int64_t columns, std::size_t most);

    // The next vector, [columns]. Whether it is among the nearest of a query, so far.
    bool add(std::span<const float> vector);
    // For each query the nearest first; of equally near ones the one that was added first.
    std::vector<std::vector<NearVector>> take();

private:
    const std::vector<float> queries_;
    const std::size_t columns_, most_;
    std::size_t added_ = 0;
    std::vector<std::vector<NearVector>> nearest_;
};

}  // namespace headscope
