#include "backends/cpu/reference/reference.h"

namespace headscope {

template <class Real>
Support CpuReference<Real>::support(OpId op, DType dtype) const {
    const bool any_dtype = op == OpId::Fill || op == OpId::Copy || op == OpId::GatherRows;
    if (dtype != kDTypeOf<Real> && !any_dtype) {
        return {SupportLevel::None, std::string("it computes in ") + name_of(kDTypeOf<Real>) + " alone"};
    }
    if (op == OpId::Attention) {
        return {SupportLevel::Composed, "matmul, masked_softmax and matmul"};
    }
    if (op == OpId::AttentionBackward) {
        return {SupportLevel::Composed, "recomputes the weights, then each step of the backward"};
    }
    if (op == OpId::Linear) {
        return {SupportLevel::Composed, "matmul, then bias_activation"};
    }
    return {};
}

template <class Real>
Support CpuReference<Real>::products(Compute compute) const {
    return compute == Compute::F32 ? Support{}
                                   : Support{SupportLevel::Composed, "operands are rounded, then multiplied by loops"};
}

template <class Real>
Support CpuReference<Real>::weights(DType dtype) const {
    return dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::I8 ? Support{} : HostBackend::weights(dtype);
}

// Not the whole class: other files instantiate it too, and may be compiled in the same unity build.
#define HEADSCOPE_INSTANTIATE(Real)                                           \
    template Support CpuReference<Real>::support(OpId op, DType dtype) const; \
    template Support CpuReference<Real>::products(Compute compute) const;     \
    template Support CpuReference<Real>::weights(DType dtype) const;
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
