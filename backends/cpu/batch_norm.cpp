// Rule: y, mean and rstd are overwritten, the running values moved in place; each gradient has a Write of its own. Sums
// are in F32, in an order that the sizes alone decide.
#include "backends/cpu/cpu_backend.h"

namespace headscope::cpu {

void CpuBackend::run(const BatchNorm& op) {
    CpuReference<float>::run(op);
}

void CpuBackend::run(const BatchNormBackward& op) {
    CpuReference<float>::run(op);
}

}  // namespace headscope::cpu
