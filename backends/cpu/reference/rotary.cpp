#include <limits>

#include "backend/ops/rotary.h"
#include "backends/cpu/reference/reference.h"

namespace headscope {

template <class Real>
void CpuReference<Real>::run(const Rotate& op) {
    const View4<Real> x(op.x);
    const View4<Real> out(op.out);
    const Real* turns = data_of<Real>(op.turns);
    const std::int64_t pairs = op.turns.dim(2);
    const std::int64_t first = scalar_of(op.first, 0);
    for_each_index(View4<Real>(op.x.narrow(3, 0, pairs)), [&](auto i, auto j, auto k, auto p) {
        const std::int64_t one = op.neighbours ? 2 * p : p;
        const std::int64_t other = op.neighbours ? 2 * p + 1 : pairs + p;
        const std::int64_t position = first + k;
        const bool placed = position >= 0 && position < op.turns.dim(0);
        const Real* turn = turns + (placed ? position : 0) * 2 * pairs;
        const Real cosine = placed ? turn[p] : std::numeric_limits<Real>::quiet_NaN();
        const Real sine = placed ? turn[pairs + p] * (op.inverse ? -1 : 1) : cosine;
        const Real a = x.at(i, j, k, one);
        const Real b = x.at(i, j, k, other);
        out.at(i, j, k, one) = a * cosine - b * sine;
        out.at(i, j, k, other) = b * cosine + a * sine;
    });
    const std::int64_t rest = op.x.dim(3) - 2 * pairs;
    const View4<Real> unturned(op.x.narrow(3, 2 * pairs, rest));
    const View4<Real> copied(op.out.narrow(3, 2 * pairs, rest));
    for_each_index(unturned, [&](auto i, auto j, auto k, auto l) { copied.at(i, j, k, l) = unturned.at(i, j, k, l); });
}

#define HEADSCOPE_INSTANTIATE(Real) template void CpuReference<Real>::run(const Rotate&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
