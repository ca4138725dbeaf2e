// One product of the emulated cuBLASLt.
#pragma once

#include <cstdint>

#include "products.h"

namespace headscope::cuda_emulation {

// One product, by value: it runs when the stream comes to it.
struct LtCall {
    std::int64_t m, n, k;
    float alpha, beta;
    Operand a, b;
    const unsigned char* c;
    unsigned char* d;
    DType dtype;
    std::int64_t ldc, ldd;
    const unsigned char* bias;
    bool relu;
    std::uint32_t reduction;
    unsigned char* workspace;
};
// D = relu(alpha op(A) op(B) + beta C + bias). Split sums need the workspace.
void multiply(const LtCall& call);

}  // namespace headscope::cuda_emulation
