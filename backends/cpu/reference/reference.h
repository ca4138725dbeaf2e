// Every op as loops that read like the paper's equations. In double it is the oracle; in float the fast backend uses it
// for cheap ops.
#pragma once

#include "backends/cpu/memory/host_backend.h"
#include "backends/cpu/memory/view.h"

namespace headscope {

template <class Real>
class CpuReference : public HostBackend {
public:
    using HostBackend::HostBackend;

    DType full_dtype() const override { return kDTypeOf<Real>; }
    Support support(OpId op, DType dtype) const override;
    Support products(Compute compute) const override;
    Support weights(DType dtype) const override;

    using HostBackend::run;
#define HEADSCOPE_DECLARE(Op) void run(const Op& op) override;
    HEADSCOPE_CORE_OPS(HEADSCOPE_DECLARE)
#undef HEADSCOPE_DECLARE
};

}  // namespace headscope
