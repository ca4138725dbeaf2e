#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/memory/view.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/weight_panels.h"

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

Tensor CpuBackend::pack(const Tensor& weight) {
    if (!fits_panels(weight) || (weight.dtype == DType::I8 && has_tiles())) {
        return weight;
    }
    pack_panels(pool_, weight);
    Tensor packed = weight;
    packed.layout = WeightLayout::Panels;
    return packed;
}

void CpuBackend::upload(const Tensor& to, const void* from, std::size_t bytes) {
    if (to.layout == WeightLayout::Panels) {
        rows_to_panels(to, static_cast<const std::byte*>(from));
    } else {
        HostBackend::upload(to, from, bytes);
    }
}

void CpuBackend::download(const Tensor& from, void* to, std::size_t bytes) {
    if (from.layout == WeightLayout::Panels) {
        panels_to_rows(from, static_cast<std::byte*>(to));
    } else {
        HostBackend::download(from, to, bytes);
    }
}

Tensor CpuBackend::in_rows(const Tensor& weight) {
    const Tensor rows = empty(weight.shape, weight.dtype);
    panels_to_rows(weight, first_byte(rows));
    return rows;
}

}  // namespace headscope::cpu
