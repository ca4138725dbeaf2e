// Rule: all is overwritten but grad_logits and mix_experts' out, which are added to with Write::Accumulate. Nothing is
// in place. Places are given in the tokens' order, and a token's choices are added in theirs.
#include <algorithm>

#include "backend/ops/experts.h"
#include "backends/cpu/clones.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/row_math.h"

namespace headscope::cpu {

namespace {

constexpr std::int64_t kWorthATask = 16384;  // elements

HEADSCOPE_CLONES void write_weighted_row(float* out, const float* x, float weight, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] = weight * x[i];
    }
}

HEADSCOPE_CLONES void add_weighted_slot(float* out, const float* x, float weight, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        out[i] += weight * x[i];
    }
}

HEADSCOPE_CLONES float dot_of_rows(const float* a, const float* b, std::int64_t count) {
    return sum_over(count, [&](std::int64_t i) { return a[i] * b[i]; });
}

}  // namespace

void CpuBackend::run(const RouteTokens& op) {
    CpuReference<float>::run(op);
}

void CpuBackend::run(const RouteTokensBackward& op) {
    CpuReference<float>::run(op);
}

void CpuBackend::run(const TakeTokens& op) {
    const std::int64_t columns = op.x.dim(1);
    const std::int32_t* sources = data_of<std::int32_t>(op.sources);
    const float* weights = data_of<const float>(op.weights);
    const float* others = data_of<const float>(op.others);
    pool_.for_ranges(
        op.out.dim(0), kWorthATask / std::max<std::int64_t>(columns, 1), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t s = begin; s < end; ++s) {
                float* out = data_of<float>(op.out) + s * columns;
                const bool full = sources[s] >= 0 && sources[s] < op.x.dim(0);
                const float* x = data_of<const float>(op.x) + (full ? sources[s] * columns : 0);
                if (full) {
                    write_weighted_row(out, x, weights == nullptr ? 1.0F : weights[s], columns);
                } else {
                    std::fill_n(out, columns, 0.0F);
                }
                if (others != nullptr) {
                    data_of<float>(op.dots)[s] = full ? dot_of_rows(others + s * columns, x, columns) : 0.0F;
                }
            }
        });
}

void CpuBackend::run(const MixExperts& op) {
    const std::int64_t columns = op.x.dim(1);
    const std::int64_t choices = op.slots.dim(1);
    const std::int32_t* slots = data_of<std::int32_t>(op.slots);
    const float* weights = data_of<const float>(op.weights);
    pool_.for_ranges(op.out.dim(0), kWorthATask / std::max<std::int64_t>(columns * choices, 1),
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t t = begin; t < end; ++t) {
                             float* out = data_of<float>(op.out) + t * columns;
                             if (op.write == Write::Overwrite) {
                                 std::fill_n(out, columns, 0.0F);
                             }
                             for (std::int64_t j = 0; j < choices; ++j) {
                                 const std::int64_t slot = slots[t * choices + j];
                                 if (slot >= 0 && slot < op.x.dim(0)) {
                                     add_weighted_slot(out, data_of<const float>(op.x) + slot * columns,
                                                       weights == nullptr ? 1.0F : weights[slot], columns);
                                 }
                             }
                         }
                     });
}

}  // namespace headscope::cpu
