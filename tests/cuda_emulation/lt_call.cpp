#include "lt_call.h"

#include <cmath>
#include <vector>

#include "cublasLt.h"

namespace headscope::cuda_emulation {

namespace {

// Both parts of the sums go to the workspace, [2][n][m] of `dtype`, and are added from there.
void split_sums(const LtCall& call, DType dtype) {
    constexpr std::int64_t kLong = 8192;
    constexpr std::int64_t kTile = 64;
    const auto width = static_cast<std::int64_t>(size_of(dtype));
    const std::int64_t end = call.k < kLong ? call.k : call.k / kTile * kTile;
    for (const std::int64_t part : {0, 1}) {
        Sums sums(call.a, call.b, 0, call.m, part * (call.k / 2), part == 0 ? call.k / 2 : end);
        for (std::int64_t j = 0; j < call.n; ++j) {
            unsigned char* to = call.workspace + (part * call.n + j) * call.m * width;
            for (const float sum : sums.column(j)) {
                store_as(dtype, to, sum);
                to += width;
            }
        }
    }
}

void finish(const LtCall& call, std::int64_t i, std::int64_t j, float sum) {
    const auto width = static_cast<std::int64_t>(size_of(call.dtype));
    float value = call.alpha * sum;
    if (call.beta != 0.0F) {
        value += call.beta * load_as<float>(call.dtype, call.c + (j * call.ldc + i) * width);
    }
    if (call.bias != nullptr) {
        value += load_as<float>(call.dtype, call.bias + i * width);
    }
    store_as(call.dtype, call.d + (j * call.ldd + i) * width, call.relu ? std::fmax(value, 0.0F) : value);
}

}  // namespace

void multiply(const LtCall& call) {
    if (call.reduction == CUBLASLT_REDUCTION_SCHEME_NONE) {
        Sums sums(call.a, call.b, 0, call.m, 0, call.k);
        for (std::int64_t j = 0; j < call.n; ++j) {
            const std::vector<float>& column = sums.column(j);
            for (std::int64_t i = 0; i < call.m; ++i) {
                finish(call, i, j, column[static_cast<std::size_t>(i)]);
            }
        }
        return;
    }
    const DType dtype = call.reduction == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE ? DType::F32 : call.dtype;
    const auto width = static_cast<std::int64_t>(size_of(dtype));
    split_sums(call, dtype);
    for (std::int64_t j = 0; j < call.n; ++j) {
        for (std::int64_t i = 0; i < call.m; ++i) {
            const unsigned char* first = call.workspace + (j * call.m + i) * width;
            finish(call, i, j, load_as<float>(dtype, first) + load_as<float>(dtype, first + call.n * call.m * width));
        }
    }
}

}  // namespace headscope::cuda_emulation
