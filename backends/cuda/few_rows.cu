// The kernels of few_rows.h.
//
// Rule: y is overwritten, and shares no memory with an input. A sum over the terms is in F32, in an order that their
// number and the dtype decide.
#include "backends/cuda/few_rows.h"

#include <limits>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/matrix_unit.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/unrolled.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

template <class T, class Y>
struct FewRowsKernel {
    const T* x;
    const T* weight;
    const float* bias;  // [out], or null
    Y* y;
    std::int64_t x_row, weight_row, y_row;  // elements between rows
    int rows, in, out;
    float alpha;
    bool relu;

    __device__ void finish(float sum, int row, int column) const {
        if (row >= rows || column >= out) {
            return;
        }
        const float value = alpha * sum + (bias == nullptr ? 0.0F : bias[column]);
        from_float(relu && value <= 0.0F ? 0.0F : value, y[row * y_row + column]);  // NaN stays NaN
    }
};

struct __align__(16) Words {
    std::uint32_t at[4];
};

// 16 bytes, or zeros. Not a branch, around which a compiler would wait for the loads before.
__device__ inline Words load_words(const void* from, bool there) {
    Words words{};
#ifdef __CUDACC__
    asm volatile("{ .reg .pred there; setp.ne.s32 there, %5, 0; @there ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(words.at[0]), "+r"(words.at[1]), "+r"(words.at[2]), "+r"(words.at[3])
                 : "l"(from), "r"(static_cast<int>(there)));
#else
    if (there) {
        words = *static_cast<const Words*>(from);
    }
#endif
    return words;
}

constexpr int kMatrixColumns = 8;  // of the tensor cores' B and C
constexpr int kMatrixWarps = 8;
constexpr int kWarpTerms = 32;  // that a warp multiplies at a time: eight neighbours of each lane of a quad

// A block computes `Tiles` times eight outputs of all rows, each warp every eighth step of 32 terms. Which terms a
// column of A and a row of B stand for is free, as long as it is the same for both: lane t of a quad has the eight
// terms from 8 t of a row, as one load brings them, and not two and two of each half of a matrix. kSteps of them are
// in flight before the first is used.
template <class T, class Y, int Tiles>
__global__ void __launch_bounds__(kMatrixWarps* kWarp) multiply_few_rows(FewRowsKernel<T, Y> p) {
    after_previous();
    constexpr int kSteps = 4;
    constexpr int kColumns = Tiles * kMatrixColumns;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int group = static_cast<int>(threadIdx.x) % kWarp / 4;  // a row of A, and eight below; a column of B
    const int quad = static_cast<int>(threadIdx.x) % 4;
    const int first = static_cast<int>(blockIdx.x) * kColumns;
    float sums[Tiles][4] = {};
    for (int start = warp * kWarpTerms; start < p.in; start += kSteps * kMatrixWarps * kWarpTerms) {
        Words x[kSteps][2];
        Words weight[kSteps][Tiles];
        unrolled<kSteps>([&](int step) {
            const int term = start + step * kMatrixWarps * kWarpTerms + quad * 8;
            const bool inside = term < p.in;
            for (int half = 0; half < 2; ++half) {
                const int row = group + 8 * half;
                x[step][half] = load_words(p.x + row * p.x_row + term, inside && row < p.rows);
            }
            unrolled<Tiles>([&](int tile) {
                const int column = first + tile * kMatrixColumns + group;
                weight[step][tile] = load_words(p.weight + column * p.weight_row + term, inside && column < p.out);
            });
        });
        __syncwarp();  // or the compiler moves loads down to where they are used
        unrolled<kSteps>([&](int step) {
            const Words& upper = x[step][0];
            const Words& lower = x[step][1];
            const Fragment early{{upper.at[0], lower.at[0], upper.at[1], lower.at[1]}};
            const Fragment late{{upper.at[2], lower.at[2], upper.at[3], lower.at[3]}};
            unrolled<Tiles>([&](int tile) {
                const Words& words = weight[step][tile];
                multiply_add<T>(sums[tile], early, words.at[0], words.at[1]);
                multiply_add<T>(sums[tile], late, words.at[2], words.at[3]);
            });
        });
    }
    auto* parts = shared_rest<float>();  // [warps][rows][columns]
    constexpr int kPart = static_cast<int>(kFewRows) * kColumns;
    unrolled<Tiles>([&](int tile) {
        for (int half = 0; half < 2; ++half) {
            float* const to = parts + warp * kPart + (group + 8 * half) * kColumns + tile * kMatrixColumns + 2 * quad;
            to[0] = sums[tile][2 * half];
            to[1] = sums[tile][2 * half + 1];
        }
    });
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kPart; i += kMatrixWarps * kWarp) {
        float sum = 0.0F;
        for (int part = 0; part < kMatrixWarps; ++part) {
            sum += parts[part * kPart + i];
        }
        p.finish(sum, i / kColumns, first + i % kColumns);
    }
}

constexpr int kPlainWarps = 4;
constexpr int kPlainColumns = 4;  // outputs of a block

// Adds up each of N values over the warp. Each step halves the values of a lane: it gives away one half and adds what
// it gets to the other. Lane l ends with value l / (kWarp / N).
template <int N, int Distance = kWarp / 2>
__device__ inline float add_each(const float (&values)[N]) {
    if constexpr (N == 1) {
        float sum = values[0];
        for (int distance = Distance; distance > 0; distance /= 2) {
            sum += __shfl_xor_sync(kWholeWarp, sum, distance);
        }
        return sum;
    } else {
        const bool upper = (threadIdx.x & static_cast<unsigned>(Distance)) != 0;
        float kept[N / 2];
        for (int i = 0; i < N / 2; ++i) {
            const float given = upper ? values[i] : values[i + N / 2];
            kept[i] = (upper ? values[i + N / 2] : values[i]) + __shfl_xor_sync(kWholeWarp, given, Distance);
        }
        return add_each<N / 2, Distance / 2>(kept);
    }
}

// A block computes kPlainColumns outputs of up to `Rows` rows, which is a power of two; its threads share out the
// terms, four neighbours each.
template <int Rows>
__global__ void __launch_bounds__(kPlainWarps* kWarp) multiply_few_rows_f32(FewRowsKernel<float, float> p) {
    after_previous();
    constexpr int kSums = Rows * kPlainColumns;
    const int first = static_cast<int>(blockIdx.x) * kPlainColumns;
    float sums[kSums] = {};
    for (int term = static_cast<int>(threadIdx.x) * 4; term < p.in; term += kPlainWarps * kWarp * 4) {
        Words weight[kPlainColumns];
        Words x[Rows];
        unrolled<kPlainColumns>([&](int column) {
            weight[column] = load_words(p.weight + (first + column) * p.weight_row + term, first + column < p.out);
        });
        unrolled<Rows>([&](int row) { x[row] = load_words(p.x + row * p.x_row + term, row < p.rows); });
        unrolled<Rows>([&](int row) {
            unrolled<kPlainColumns>([&](int column) {
                for (int i = 0; i < 4; ++i) {
                    sums[row * kPlainColumns + column] +=
                        bits_to_float(x[row].at[i]) * bits_to_float(weight[column].at[i]);
                }
            });
        });
    }
    auto* parts = shared_rest<float>();  // [warps][sums]
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const float of_warp = add_each(sums);
    if (lane % (kWarp / kSums) == 0) {
        parts[warp * kSums + lane / (kWarp / kSums)] = of_warp;
    }
    __syncthreads();
    if (threadIdx.x < kSums) {
        float sum = 0.0F;
        for (int part = 0; part < kPlainWarps; ++part) {
            sum += parts[part * kSums + static_cast<int>(threadIdx.x)];
        }
        p.finish(sum, static_cast<int>(threadIdx.x) / kPlainColumns,
                 first + static_cast<int>(threadIdx.x) % kPlainColumns);
    }
}

template <class T, class Y>
FewRowsKernel<T, Y> kernel_of(const FewRowsProduct& product) {
    return {.x = data_of<T>(product.x),
            .weight = data_of<T>(product.weight),
            .bias = data_of<float>(product.bias),
            .y = data_of<Y>(product.y),
            .x_row = row_step(product.x),
            .weight_row = row_step(product.weight),
            .y_row = row_step(product.y),
            .rows = static_cast<int>(product.y.dim(0)),
            .in = static_cast<int>(product.x.dim(1)),
            .out = static_cast<int>(product.y.dim(1)),
            .alpha = product.alpha,
            .relu = product.relu};
}

Grid few_rows_grid(std::int64_t outputs, int columns, int warps, int rows) {
    const auto floats = static_cast<std::size_t>(warps * rows * columns);
    return {dim3(block_count((outputs + columns - 1) / columns)), static_cast<unsigned>(warps * kWarp),
            kReduceBytes + floats * sizeof(float)};
}

// Whether every row of the operand consists of whole loads of 16 bytes.
bool is_wide(const Tensor& operand) {
    const auto pack = static_cast<std::int64_t>(16 / size_of(operand.dtype));
    return operand.dim(1) % pack == 0 && row_step(operand) % pack == 0 && aligned({&operand}, 16);
}

}  // namespace

bool CudaBackend::run_few_rows(const char* op, const FewRowsProduct& product) {
    const std::int64_t rows = product.y.dim(0);
    const std::int64_t outputs = product.y.dim(1);
    const std::int64_t terms = product.x.dim(1);
    const bool f32 = product.x.dtype == DType::F32;
    if ((f32 && product.compute == Compute::TF32) ||
        !kernels_.allow(f32 ? Kernel::FewRowsF32 : Kernel::FewRows, compiled_) ||
        rows > (f32 ? kFewRowsF32 : kFewRows) || terms > kMostFewTerms || outputs > std::numeric_limits<int>::max() ||
        !is_wide(product.x) || !is_wide(product.weight)) {
        return false;
    }
    if (f32) {
        const auto launch = [&](auto most) {
            constexpr int kRows = decltype(most)::value;
            stream_.launch(op, multiply_few_rows_f32<kRows>, few_rows_grid(outputs, kPlainColumns, kPlainWarps, kRows),
                           kernel_of<float, float>(product));
        };
        rows == 1 ? launch(Width<1>{}) : rows == 2 ? launch(Width<2>{}) : launch(Width<kFewRowsF32>{});
        return true;
    }
    const auto launch = [&](auto tag, auto result, auto tiles) {
        constexpr int kTiles = decltype(tiles)::value;
        stream_.launch(op, multiply_few_rows<decltype(tag), decltype(result), kTiles>,
                       few_rows_grid(outputs, kTiles * kMatrixColumns, kMatrixWarps, static_cast<int>(kFewRows)),
                       kernel_of<decltype(tag), decltype(result)>(product));
    };
    // Two tiles load x once for both, as soon as there are enough blocks for every multiprocessor. Four with half the
    // steps would have as many weights in flight and half the loads of x, which mostly hit L1, but they take up to 136
    // registers (sm_100), with which a multiprocessor holds one block instead of two.
    constexpr int kManyTiles = 2;
    constexpr std::int64_t kBlocksEach = 4;
    const bool many = outputs >= kBlocksEach * kManyTiles * kMatrixColumns * multiprocessors_;
    const auto with_tiles = [&](auto tag, auto result) {
        many ? launch(tag, result, Width<kManyTiles>{}) : launch(tag, result, Width<1>{});
    };
    const auto with_result = [&](auto tag) {
        product.y.dtype == DType::F32 ? with_tiles(tag, float{}) : with_tiles(tag, tag);
    };
    product.x.dtype == DType::F16 ? with_result(Half{}) : with_result(BFloat16{});
    return true;
}

}  // namespace headscope::cuda
