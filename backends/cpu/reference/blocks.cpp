#include <bit>
#include <limits>

#include "backend/ops/blocks.h"
#include "backend/ops/embedding.h"
#include "backends/cpu/reference/reference.h"
#include "tensor/dtype.h"

namespace headscope {

namespace {

// A weight, of which each number is found by itself.
template <class Real>
class BlockWeight {
public:
    BlockWeight(const Tensor& codes, const Tensor& scales, std::int64_t columns)
        : codes_(data_of<std::int32_t>(codes)),
          scales_(data_of<std::int32_t>(scales)),
          blocks_(blocks_of(columns)),
          form_(form_of(codes, scales, columns)) {}

    Real at(std::int64_t row, std::int64_t column) const {
        const std::int64_t block = row * blocks_ + column / kBlockColumns;
        const std::int64_t i = column % kBlockColumns;
        const std::int32_t* own = scales_ + block * (form_.factors ? 2 : 1);
        const auto both = static_cast<std::uint32_t>(own[0]);
        Real scale = from_f16(static_cast<std::uint16_t>(both));
        Real least = from_f16(static_cast<std::uint16_t>(both >> 16U));
        if (form_.factors) {
            scale *= factor(own[1], i / kHalfBlock);
            least *= factor(own[1], 2 + i / kHalfBlock);
        }
        return scale * static_cast<Real>(code(block, i)) + least;
    }

private:
    static Real factor(std::int32_t word, std::int64_t byte) {
        return std::bit_cast<std::int8_t>(static_cast<std::uint8_t>(static_cast<std::uint32_t>(word) >> (8 * byte)));
    }
    int code(std::int64_t block, std::int64_t i) const {
        if (form_.bits == 8) {
            return std::bit_cast<std::int8_t>(byte(block * kBlockColumns + i));
        }
        const std::uint8_t two = byte(block * kBlockColumns / 2 + i % (kBlockColumns / 2));
        return i < kBlockColumns / 2 ? two & 15 : two >> 4;
    }
    std::uint8_t byte(std::int64_t index) const {
        return static_cast<std::uint8_t>(static_cast<std::uint32_t>(codes_[index / 4]) >> (8 * (index % 4)));
    }

    const std::int32_t* codes_;
    const std::int32_t* scales_;
    std::int64_t blocks_;
    BlockForm form_;
};

}  // namespace

template <class Real>
void CpuReference<Real>::run(const BlockLinear& op) {
    const Real* x = data_of<Real>(op.x);
    Real* y = data_of<Real>(op.y);
    const BlockWeight<Real> weight(op.codes, op.scales, op.x.dim(1));
    const std::int64_t outputs = op.y.dim(1);
    for (std::int64_t row = 0; row < op.y.dim(0); ++row) {
        for (std::int64_t j = 0; j < outputs; ++j) {
            Real sum = 0;
            for (std::int64_t i = 0; i < op.x.dim(1); ++i) {
                sum += x[row * op.x.stride(0) + i] * weight.at(j, i);
            }
            y[row * outputs + j] = Real{op.alpha} * sum;
        }
    }
}

template <class Real>
void CpuReference<Real>::run(const BlockEmbed& op) {
    const std::int32_t* ids = data_of<std::int32_t>(op.ids);
    Real* out = data_of<Real>(op.out);
    const BlockWeight<Real> table(op.codes, op.scales, op.out.dim(2));
    const std::int64_t d_model = op.out.dim(2);
    for (std::int64_t row = 0; row < op.out.dim(0) * op.out.dim(1); ++row) {
        const std::int64_t id = ids == nullptr ? row : ids[row];
        const bool known = id >= 0 && id < op.codes.dim(0);
        const Real other = id == Embed::kNoToken ? Real{0} : std::numeric_limits<Real>::quiet_NaN();
        for (std::int64_t d = 0; d < d_model; ++d) {
            out[row * d_model + d] = known ? Real{op.scale} * table.at(id, d) : other;
        }
    }
}

#define HEADSCOPE_INSTANTIATE(Real)                            \
    template void CpuReference<Real>::run(const BlockLinear&); \
    template void CpuReference<Real>::run(const BlockEmbed&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
