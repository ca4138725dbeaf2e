// Principal components: the plane in which vectors differ the most.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope {

// Vectors seen from their mean, along the two directions in which they vary the most.
struct PrincipalPlane {
    std::vector<std::array<double, 2>> places;  // of each vector
    std::array<double, 2> shares{};             // of the variance, from 0 to 1
};

// The most vectors whose plane is found: the work grows with the third power.
constexpr std::size_t kMostInPlane = 400;

// `vectors`: [count, columns]. Exact and the same every time: all eigenvalues of the products of the vectors with each
// other, by Jacobi's rotations, in double precision. The sign of a direction is that in which its largest column, the
// first of equal ones, is positive, as in scikit-learn. A direction in which nothing varies has places of 0.
PrincipalPlane principal_plane(std::span<const float> vectors, std::size_t columns);

}  // namespace headscope
