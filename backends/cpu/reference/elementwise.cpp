#include "backend/ops/elementwise.h"
#include "backends/cpu/reference/dropout.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

template <class Real>
void CpuReference<Real>::run(const Fill& op) {
    visit_stored(op.out.dtype, [&](auto stored) {
        using Stored = decltype(stored);
        store_as(op.out.dtype, &stored, op.value);
        const View4<Stored> out(op.out);
        for_each_index(out, [&](auto i, auto j, auto k, auto l) { out.at(i, j, k, l) = stored; });
    });
}

template <class Real>
void CpuReference<Real>::run(const Copy& op) {
    visit_stored(op.x.dtype, [&](auto from) {
        visit_stored(op.out.dtype, [&](auto to) {
            const View4<decltype(from)> x(op.x);
            const View4<decltype(to)> out(op.out);
            for_each_index(out, [&](auto i, auto j, auto k, auto l) {
                const double before = op.write == Write::Accumulate ? static_cast<double>(out.at(i, j, k, l)) : 0.0;
                const double value = static_cast<double>(x.at(i, j, k, l));
                store_as(op.out.dtype, &out.at(i, j, k, l), op.write == Write::Accumulate ? before + value : value);
            });
        });
    });
}

template <class Real>
void CpuReference<Real>::run(const AddScaled& op) {
    const View4<Real> a(op.a);
    const View4<Real> out(op.out);
    const Real alpha = op.alpha;
    const Real beta = op.beta;
    if (!op.b.defined()) {
        for_each_index(out, [&](auto i, auto j, auto k, auto l) { out.at(i, j, k, l) = alpha * a.at(i, j, k, l); });
        return;
    }
    const View4<Real> b(op.b);
    for_each_index(out, [&](auto i, auto j, auto k, auto l) {
        out.at(i, j, k, l) = alpha * a.at(i, j, k, l) + beta * b.at(i, j, k, l);
    });
}

template <class Real>
void CpuReference<Real>::run(const Multiply& op) {
    const View4<Real> a(op.a);
    const View4<Real> b(op.b);
    const View4<Real> out(op.out);
    for_each_index(out, [&](auto i, auto j, auto k, auto l) {
        store(out.at(i, j, k, l), a.at(i, j, k, l) * b.at(i, j, k, l), op.write);
    });
}

template <class Real>
void CpuReference<Real>::run(const Dropout& op) {
    const DropoutFactor<Real> dropout(op.rule);
    const View4<Real> x(op.x);
    const View4<Real> y(op.y);
    const bool heads = op.x.rank() == 4;  // else [batch, length, columns], which View4 makes [1, batch, ...]
    for_each_index(y, [&](auto i, auto j, auto k, auto l) {
        const Real value = dropout(x.at(i, j, k, l), heads ? i : j, heads ? j : 0, k, l);
        store(y.at(i, j, k, l), value, op.write);
    });
}

#define HEADSCOPE_INSTANTIATE(Real)                          \
    template void CpuReference<Real>::run(const Fill&);      \
    template void CpuReference<Real>::run(const Copy&);      \
    template void CpuReference<Real>::run(const AddScaled&); \
    template void CpuReference<Real>::run(const Multiply&);  \
    template void CpuReference<Real>::run(const Dropout&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
