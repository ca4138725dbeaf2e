// What the emulated cuBLAS and cuBLASLt multiply with: column-major operands of any type that they have.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backend/convert.h"
#include "cublas_v2.h"

namespace headscope::cuda_emulation {

inline DType dtype_of(cudaDataType type) {
    return type == CUDA_R_16F ? DType::F16 : type == CUDA_R_16BF ? DType::BF16 : DType::F32;
}

// TF32 keeps 10 bits of F32's 23, rounded to the nearest, ties away from zero.
inline float as_tf32(float value) {
    if (!std::isfinite(value)) {
        return value;
    }
    const auto bits = std::bit_cast<std::uint32_t>(value) + 0x1000U;
    return std::bit_cast<float>(bits & 0xFFFFE000U);
}

struct Operand {
    const unsigned char* data = nullptr;
    DType dtype = DType::F32;
    std::int64_t leading = 0;
    std::int64_t stride = 0;
    bool transposed = false;
    bool tf32 = false;

    // op(X)[row, column] of matrix `index`, as it is multiplied.
    float at(std::int64_t index, std::int64_t row, std::int64_t column) const {
        const std::int64_t place = index * stride + (transposed ? row * leading + column : column * leading + row);
        const auto value = load_as<float>(dtype, data + place * static_cast<std::int64_t>(size_of(dtype)));
        return tf32 ? as_tf32(value) : value;
    }
};

// The columns of op(A) op(B), [m] each, summed in F32 over begin <= p < end.
class Sums {
public:
    Sums(const Operand& a, const Operand& b, std::int64_t index, std::int64_t m, std::int64_t begin, std::int64_t end)
        : b_(b), index_(index), begin_(begin), end_(end), sums_(static_cast<std::size_t>(m)) {
        for (std::int64_t p = begin; p < end; ++p) {
            for (std::int64_t i = 0; i < m; ++i) {
                a_.push_back(a.at(index, i, p));
            }
        }
    }

    const std::vector<float>& column(std::int64_t j) {
        sums_.assign(sums_.size(), 0.0F);
        const float* from = a_.data();
        for (std::int64_t p = begin_; p < end_; ++p) {
            const float b = b_.at(index_, p, j);
            for (float& sum : sums_) {
                sum += *from++ * b;
            }
        }
        return sums_;
    }

private:
    Operand b_;
    std::int64_t index_, begin_, end_;
    std::vector<float> a_;  // [k][m]
    std::vector<float> sums_;
};

}  // namespace headscope::cuda_emulation
