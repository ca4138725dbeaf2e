// The kernels of layer_norm_warps.h. The backward's blocks walk down the rows and keep the gradients of gain and bias,
// and the sums of grad_x, in registers to the end; the warps of a block are added in order.
#include "backends/cuda/layer_norm_warps.h"

#include "backend/ops/layer_norm.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/unrolled.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

constexpr int kPack = 8;

// body(pack, first column) for the packs of a lane.
template <int Packs, class Body>
__device__ __forceinline__ void for_packs(const Body& body) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    unrolled<Packs>([&](int pack) { body(pack, (pack * kWarp + lane) * kPack); });
}

template <class T, int Packs>
__global__ void norm_row(NormForward<T> p) {
    after_previous();
    const std::int64_t warps = blockDim.x / kWarp;
    const std::int64_t row = blockIdx.x * warps + threadIdx.x / kWarp;
    if (row >= p.rows) {
        return;  // a whole warp
    }
    const std::int64_t first = row * p.columns;
    float values[Packs][kPack];
    float total = 0.0F;
    for_packs<Packs>([&](int pack, int column) {
        load<kPack>(p.x + first + column, values[pack]);
        drop_row<kPack>(p.dropout, row, p.length, column, values[pack]);
        if (p.residual != nullptr) {
            float residual[kPack];
            load<kPack>(p.residual + first + column, residual);
            for (int i = 0; i < kPack; ++i) {
                values[pack][i] += residual[i];
            }
        }
        store<kPack>(values[pack], p.sum + first + column);
        for (const float value : values[pack]) {
            total += value;
        }
    });
    const auto count = static_cast<float>(p.columns);
    const float mean = p.mean == nullptr ? 0.0F : reduce_warp(total, Sum()) / count;
    float squares = 0.0F;
    for_packs<Packs>([&](int pack, int /*column*/) {
        for (const float value : values[pack]) {
            squares += (value - mean) * (value - mean);
        }
    });
    const float rstd = 1.0F / sqrtf(reduce_warp(squares, Sum()) / count + p.epsilon);
    for_packs<Packs>([&](int pack, int column) {
        float gain[kPack];
        float bias[kPack] = {};
        load<kPack>(p.gain + column, gain);
        if (p.bias != nullptr) {
            load<kPack>(p.bias + column, bias);
        }
        for (int i = 0; i < kPack; ++i) {
            values[pack][i] = gain[i] * (values[pack][i] - mean) * rstd + bias[i];
        }
        store<kPack>(values[pack], p.y + first + column);
    });
    if (threadIdx.x % kWarp == 0) {
        if (p.mean != nullptr) {
            p.mean[row] = mean;
        }
        p.rstd[row] = rstd;
    }
}

// What a lane reads of one row, as it lies in memory.
template <class T, int Packs>
struct NormRow {
    Pack<T, kPack> sum[Packs];
    Pack<T, kPack> grad[Packs];

    // The packs from `begin` to `end`, which are known when compiled.
    __device__ __forceinline__ void read(const NormBackward<T>& p, std::int64_t row, int begin, int end) {
        for_packs<Packs>([&](int pack, int column) {
            if (pack >= begin && pack < end) {
                sum[pack] = *reinterpret_cast<const Pack<T, kPack>*>(p.sum + row * p.columns + column);
                grad[pack] = *reinterpret_cast<const Pack<T, kPack>*>(p.grad_y + row * p.columns + column);
            }
        });
    }
};

// The same value, of which the compiler does not know that: what is computed of it is computed again, and does not
// occupy registers in between.
__device__ inline float computed_again(float value) {
#ifdef __CUDA_ARCH__
    asm volatile("" : "+f"(value));
#endif
    return value;
}

// Of a lane's columns. X: those of grad_x, too.
template <int Packs, bool X>
struct NormSums {
    float gain[Packs][kPack] = {};
    float bias[Packs][kPack] = {};
    float x[X ? Packs : 1][kPack] = {};
};

// The gradient of one row's input, and its terms of the sums.
template <class T, int Packs, bool X>
__device__ inline void norm_row_back(const NormBackward<T>& p, std::int64_t row, const NormRow<T, Packs>& own,
                                     NormSums<Packs, X>& sums) {
    const float mean = p.mean_of(row);
    const float rstd = p.rstd[row];
    const auto normal = [&](int pack, int i, float mean_of_row) {
        return (to_float(own.sum[pack].value[i]) - mean_of_row) * rstd;
    };
    float plain = 0.0F;  // of gain * grad_y
    float weighted = 0.0F;
    for_packs<Packs>([&](int pack, int column) {
        float gain[kPack];
        load<kPack>(p.gain + column, gain);
        for (int i = 0; i < kPack; ++i) {
            const float grad = to_float(own.grad[pack].value[i]);
            plain += gain[i] * grad;
            weighted += gain[i] * grad * normal(pack, i, mean);
            sums.gain[pack][i] += grad * normal(pack, i, mean);
            sums.bias[pack][i] += grad;
        }
    });
    const auto count = static_cast<float>(p.columns);
    plain = p.mean == nullptr ? 0.0F : reduce_warp(plain, Sum()) / count;
    weighted = reduce_warp(weighted, Sum()) / count;
    const float same_mean = computed_again(mean);
    for_packs<Packs>([&](int pack, int column) {
        float grad_sum[kPack] = {};
        float gain[kPack];
        if (p.grad_sum_out != nullptr) {
            load<kPack>(p.grad_sum_out + row * p.columns + column, grad_sum);
        }
        load<kPack>(p.gain + column, gain);
        for (int i = 0; i < kPack; ++i) {
            const float grad = to_float(own.grad[pack].value[i]);
            grad_sum[i] += rstd * (gain[i] * grad - plain - normal(pack, i, same_mean) * weighted);
        }
        p.template write<kPack>(row, column, grad_sum);
        for (int i = 0; i < kPack && X; ++i) {
            sums.x[pack][i] += grad_sum[i];
        }
    });
}

// Adds the sums of a block's warps in order, and writes them to its part.
template <class T, int Packs, bool X>
__device__ inline void write_part(const NormBackward<T>& p, const NormSums<Packs, X>& sums) {
    auto* all = shared_rest<float>();  // [p.sums(), columns]
    const auto own = static_cast<int>(threadIdx.x) / kWarp;
    for (int warp = 0; warp < kNormWarps; ++warp) {
        if (warp == own) {
            for_packs<Packs>([&](int pack, int column) {
                store<kPack>(sums.gain[pack], all + column, warp > 0);
                store<kPack>(sums.bias[pack], all + p.columns + column, warp > 0);
                if constexpr (X) {
                    store<kPack>(sums.x[pack], all + 2 * p.columns + column, warp > 0);
                }
            });
        }
        __syncthreads();
    }
    const int count = (X ? 3 : 2) * static_cast<int>(p.columns);
    float* part = p.partial + static_cast<std::int64_t>(blockIdx.x) * count;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kNormWarps * kWarp) {
        part[i] = all[i];
    }
}

// Registers for the packs of the next row, which are on their way while one is computed, and for two blocks a
// multiprocessor, are there in 16 bits; with two packs and the sums of grad_x only for two blocks.
template <class T>
constexpr bool kShortNumbers = sizeof(T) == sizeof(std::uint16_t);
template <class T, int Packs, bool X>
constexpr int kPacksAhead = kShortNumbers<T> && !(X && Packs == 2) ? Packs : 0;
template <class T, int Packs>
constexpr int kNormBlocks = kShortNumbers<T>&& Packs <= 2 ? 2 : 1;

template <class T, int Packs, bool X>
__global__ void __launch_bounds__(kNormWarps* kWarp, kNormBlocks<T, Packs>) norm_rows_back(NormBackward<T> p) {
    after_previous();
    const unsigned step = gridDim.x * kNormWarps;
    unsigned row = blockIdx.x * kNormWarps + threadIdx.x / kWarp;
    NormSums<Packs, X> sums;
    constexpr int kAhead = kPacksAhead<T, Packs, X>;
    NormRow<T, Packs> own{};
    if (row < p.rows) {
        own.read(p, row, 0, kAhead);
    }
    for (; row < p.rows; row += step) {
        own.read(p, row, kAhead, Packs);
        NormRow<T, Packs> next = own;
        if (row + step < p.rows) {
            next.read(p, row + step, 0, kAhead);
        }
        norm_row_back(p, row, own, sums);
        own = next;
    }
    write_part(p, sums);
}

// Calls visit(Width<packs of a lane>{}).
template <class Visit>
void visit_packs(std::int64_t columns, const Visit& visit) {
    switch (columns / kNormColumns) {
        case 1: return visit(Width<1>{});
        case 2: return visit(Width<2>{});
        case 3: return visit(Width<3>{});
        default: return visit(Width<kMostNormPacks>{});
    }
}

}  // namespace

template <class T>
void launch_norm_in_warps(Stream& stream, const NormForward<T>& norm, int multiprocessors) {
    // Few rows are spread over the multiprocessors.
    const std::int64_t warps = std::clamp<std::int64_t>(norm.rows / multiprocessors, 1, 4);
    const Grid grid{dim3(block_count((norm.rows + warps - 1) / warps)), static_cast<unsigned>(warps * kWarp), 0};
    visit_packs(norm.columns, [&](auto packs) {
        stream.launch(AddLayerNorm::kName, norm_row<T, decltype(packs)::value>, grid, norm);
    });
}

template <class T>
std::int64_t launch_norm_in_warps(Stream& stream, const NormBackward<T>& norm, int multiprocessors) {
    const Grid grid{dim3(norm_blocks(norm.rows, multiprocessors)), kNormWarps * kWarp,
                    kReduceBytes + static_cast<std::size_t>(norm.sums() * norm.columns) * sizeof(float)};
    visit_packs(norm.columns, [&](auto packs) {
        constexpr int kPacks = decltype(packs)::value;
        stream.launch(AddLayerNormBackward::kName,
                      norm.sums_x ? norm_rows_back<T, kPacks, true> : norm_rows_back<T, kPacks, false>, grid, norm);
    });
    return grid.blocks.x;
}

#define HEADSCOPE_NORM(T)                                                    \
    template void launch_norm_in_warps(Stream&, const NormForward<T>&, int); \
    template std::int64_t launch_norm_in_warps(Stream&, const NormBackward<T>&, int)
HEADSCOPE_NORM(float);
HEADSCOPE_NORM(Half);
HEADSCOPE_NORM(BFloat16);
#undef HEADSCOPE_NORM

}  // namespace headscope::cuda
