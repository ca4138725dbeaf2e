#include <algorithm>
#include <limits>

#include "backend/ops/embedding.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

template <class Real>
void CpuReference<Real>::run(const Embed& op) {
    const std::int32_t* ids = data_of<std::int32_t>(op.ids);
    const std::byte* table = first_byte(op.table);
    const auto width = static_cast<std::int64_t>(size_of(op.table.dtype));
    const Real* scales = data_of<Real>(op.table_scales);
    const Real* positions = data_of<Real>(op.positions);
    Real* out = data_of<Real>(op.out);
    const std::int64_t length = op.ids.dim(1);
    const std::int64_t d_model = op.table.dim(1);
    const std::int64_t first = scalar_of(op.first, 0);
    for (std::int64_t row = 0; row < op.ids.dim(0) * length; ++row) {
        const std::int64_t id = ids[row];
        const std::int64_t position = first + row % length;
        const bool known = id >= 0 && id < op.table.dim(0);
        const bool placed = positions == nullptr || (position >= 0 && position < op.positions.dim(0));
        for (std::int64_t d = 0; d < d_model; ++d) {
            Real value = std::numeric_limits<Real>::quiet_NaN();
            if ((known || id == Embed::kNoToken) && placed) {
                value = known ? load_as<Real>(op.table.dtype, table + (id * d_model + d) * width) : Real{0};
                value *= scales == nullptr || !known ? Real{op.scale} : Real{op.scale} * scales[id];
                value += positions == nullptr ? 0 : positions[position * op.positions.stride(0) + d];
            }
            out[row * d_model + d] = value;
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const EmbedBackward& op) {
    const std::int32_t* ids = data_of<std::int32_t>(op.ids);
    const std::int32_t* order = data_of<std::int32_t>(op.order);
    const Real* grad_out = data_of<Real>(op.grad_out);
    Real* grad_table = data_of<Real>(op.grad_table);
    const std::int64_t d_model = op.grad_table.dim(1);
    const std::int64_t positions = op.ids.elements();
    if (op.write == Write::Overwrite) {
        std::fill_n(grad_table, op.grad_table.elements(), Real{0});
    }
    for (std::int64_t i = 0; i < positions; ++i) {
        const std::int64_t place = order[i];
        if (place < 0 || place >= positions) {
            continue;
        }
        const std::int64_t id = ids[place];
        if (id < 0 || id >= op.grad_table.dim(0)) {
            continue;
        }
        for (std::int64_t d = 0; d < d_model; ++d) {
            grad_table[id * d_model + d] += Real{op.scale} * grad_out[place * d_model + d];
        }
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                      \
    template void CpuReference<Real>::run(const Embed&); \
    template void CpuReference<Real>::run(const EmbedBackward&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
