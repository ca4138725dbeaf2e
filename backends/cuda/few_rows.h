// Products of few rows, as in decoding: y = f(alpha x W^T + bias). Reading the weight once is all the time they take,
// so many blocks read a few of its rows each, in loads of 16 bytes, straight into what is multiplied: no weight is used
// twice, and shared memory would only delay it. cuBLAS's tiles of 64 or more outputs would be 8 blocks for a layer of
// 512. The warps of a block share out the terms of a sum, and their parts are added in order.
#pragma once

#include <cstdint>

#include "backend/choices.h"
#include "tensor/tensor.h"

namespace headscope::cuda {

// On tensor cores, whose matrices have 16 rows; in F32 as many as registers can add up beside the weights.
constexpr std::int64_t kFewRows = 16;
constexpr std::int64_t kFewRowsF32 = 4;
// A block walks along all terms. Of more it would be too long at it: cuBLAS shares them out among blocks.
constexpr std::int64_t kMostFewTerms = 16384;

// x is [rows, in] and the weight [out, in]; rows of all three may be strided.
struct FewRowsProduct {
    Tensor x, weight, bias = {}, y;
    float alpha = 1.0F;
    bool relu = false;
    Compute compute = Compute::F32;  // of TF32, F32 operands are left to cuBLAS
};

}  // namespace headscope::cuda
