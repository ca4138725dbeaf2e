#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/products.h"

namespace headscope::cpu {

CpuBackend::CpuBackend(DeviceInfo info, int threads) : CpuReference<float>(std::move(info)), pool_(threads) {}

Support CpuBackend::support(const std::string& op, DType dtype) const {
    const bool native = dtype == DType::F32 && op == Attention::kName;
    return native ? Support{} : CpuReference<float>::support(op, dtype);
}

}  // namespace headscope::cpu
