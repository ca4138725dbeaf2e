// Rule: out is overwritten; turning works in place. Each pair is computed in F32 and rounded once, so the order of work
// cannot show.
#include "backend/ops/rotary.h"

#include <algorithm>

#include "backends/cpu/clones.h"
#include "backends/cpu/cpu_backend.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthAThread = 16384;  // elements

// `sign`: -1 for the inverse.
HEADSCOPE_CLONES void turn_halves(const float* x, const float* turn, float sign, std::int64_t pairs, float* out) {
    for (std::int64_t p = 0; p < pairs; ++p) {
        const float a = x[p];
        const float b = x[pairs + p];
        const float sine = sign * turn[pairs + p];
        out[p] = a * turn[p] - b * sine;
        out[pairs + p] = b * turn[p] + a * sine;
    }
}

HEADSCOPE_CLONES void turn_neighbours(const float* x, const float* turn, float sign, std::int64_t pairs, float* out) {
    for (std::int64_t p = 0; p < pairs; ++p) {
        const float a = x[2 * p];
        const float b = x[2 * p + 1];
        const float sine = sign * turn[pairs + p];
        out[2 * p] = a * turn[p] - b * sine;
        out[2 * p + 1] = b * turn[p] + a * sine;
    }
}

}  // namespace

void CpuBackend::run(const Rotate& op) {
    const std::int64_t first = scalar_of(op.first, 0);
    const std::int64_t length = op.x.dim(2);
    if (first < 0 || first > op.turns.dim(0) - length) {
        CpuReference<float>::run(op);  // writes NaN for a position out of range
        return;
    }
    const View4<const float> x(op.x);
    const View4<float> out(op.out);
    const float* turns = data_of<const float>(op.turns);
    const std::int64_t pairs = op.turns.dim(2);
    const std::int64_t depth = x.size[3];
    const float sign = op.inverse ? -1.0F : 1.0F;
    const auto turn_row = op.neighbours ? turn_neighbours : turn_halves;
    pool_.for_ranges(x.size[0] * x.size[1] * length, kWorthAThread / std::max<std::int64_t>(depth, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t row = begin; row < end; ++row) {
                             const std::int64_t i = row % length;
                             const std::int64_t head = row / length % x.size[1];
                             const std::int64_t batch = row / length / x.size[1];
                             const float* from = x.row(batch, head, i);
                             float* to = out.row(batch, head, i);
                             turn_row(from, turns + (first + i) * 2 * pairs, sign, pairs, to);
                             if (from != to) {
                                 std::copy(from + 2 * pairs, from + depth, to + 2 * pairs);
                             }
                         }
                     });
}

}  // namespace headscope::cpu
