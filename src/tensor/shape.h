// Up to four dimensions, row-major by default.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace headscope {

constexpr int kMaxRank = 4;

// Dimension sizes; a default-constructed Shape has rank 0 and one element.
class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<std::int64_t> dims);  // each >= 0, at most kMaxRank of them

    int rank() const { return rank_; }
    // Negative indices count from the end: shape[-1] is the innermost.
    std::int64_t operator[](int dim) const { return dims_[static_cast<std::size_t>(index(dim))]; }
    void set(int dim, std::int64_t size);
    std::int64_t elements() const;
    bool operator==(const Shape& other) const = default;
    std::string to_string() const;  // "[2, 8, 33, 64]"

    // Converts an index that may count from the end. Error if out of range.
    int index(int dim) const {
        const int from_outermost = dim < 0 ? dim + rank_ : dim;
        if (from_outermost < 0 || from_outermost >= rank_) {
            refuse(dim);
        }
        return from_outermost;
    }

private:
    [[noreturn]] void refuse(int dim) const;
    std::array<std::int64_t, kMaxRank> dims_{};  // entries past rank_ stay 0, so that == works
    int rank_ = 0;
};

// Steps between neighbours, in elements. Entries past the rank are 0.
using Strides = std::array<std::int64_t, kMaxRank>;

Strides contiguous_strides(const Shape& shape);

}  // namespace headscope
