#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/products.h"

namespace headscope::cpu {

CpuBackend::CpuBackend(DeviceInfo info, int threads) : CpuReference<float>(std::move(info)), pool_(threads) {}

Support CpuBackend::support(OpId op, DType dtype) const {
    if (dtype == DType::F32 && op == OpId::Attention) {
        return {};
    }
    return CpuReference<float>::support(op, dtype);
}

Support CpuBackend::products(Compute compute) const {
    if (compute == Compute::BF16) {
        return has_bf16_products() ? Support{}
                                   : Support{SupportLevel::Composed, "operands are rounded, then multiplied in F32"};
    }
    return CpuReference<float>::products(compute);
}

}  // namespace headscope::cpu
