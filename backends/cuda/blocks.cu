// BlockLinear and BlockEmbed: codes become numbers in registers.
//
// Rule: y and out are overwritten, and share no memory with an input. A sum over k is in F32, in an order that a device
// fixes by shapes: equal operands give equal bits.
#include "backend/ops/blocks.h"

#include <algorithm>

#include "backend/ops/elementwise.h"
#include "backend/ops/embedding.h"
#include "backend/ops/matmul.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/unrolled.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

constexpr int kWords = 4;  // of codes that a thread takes at a time: a block of 4 bits, or half of one of 8 bits

struct __align__(16) CodeWords {
    std::uint32_t at[kWords];
};

struct ScaleAndLeast {
    float scale, least;
};

// The scales of a weight, with words of factors by turns or without.
struct Scales {
    const std::uint32_t* words;
    bool factors;
};

// Of one half of a block.
__device__ inline ScaleAndLeast scales_at(const Scales& scales, std::int64_t block, int half) {
    const std::uint32_t both = scales.words[scales.factors ? 2 * block : block];
    const ScaleAndLeast own{to_float(Half{static_cast<std::uint16_t>(both)}),
                            to_float(Half{static_cast<std::uint16_t>(both >> 16U)})};
    if (!scales.factors) {
        return own;
    }
    const std::uint32_t factors = scales.words[2 * block + 1] >> (8 * half);
    return {own.scale * static_cast<float>(static_cast<std::int8_t>(factors & 255U)),
            own.least * static_cast<float>(static_cast<std::int8_t>(factors >> 16U & 255U))};
}

// Byte `i` of a word: of 8 bits a code, of 4 bits two, of which this is the one of the block's first half.
template <int Bits>
__device__ inline float code_of(std::uint32_t word, int i) {
    const std::uint32_t byte = word >> (8 * i);
    return Bits == 8 ? static_cast<float>(static_cast<std::int8_t>(byte & 255U)) : static_cast<float>(byte & 15U);
}

struct BlockTable {
    const std::int32_t* ids;  // [rows], or null
    const std::uint32_t* codes;
    Scales scales;
    float* out;  // [rows, columns]
    std::int64_t items;
    std::int64_t columns;
    std::int64_t blocks;
    std::int64_t vocabulary;
    float scale;
};

// A thread for each word of codes.
template <int Bits>
__global__ void block_embed(BlockTable p) {
    after_previous();
    const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= p.items) {
        return;
    }
    const std::int64_t words = p.blocks * Bits;  // of a row
    const std::int64_t row = item / words;
    const std::int64_t word = item - row * words;
    const std::int64_t block = word / Bits;
    const std::int64_t id = p.ids == nullptr ? row : p.ids[row];
    const bool known = id >= 0 && id < p.vocabulary;
    const float other = id == Embed::kNoToken ? 0.0F : NAN;
    const std::uint32_t codes = known ? p.codes[id * words + word] : 0;
    const auto put = [&](std::int64_t column, float code) {
        const int half = static_cast<int>(column / kHalfBlock % 2);
        const ScaleAndLeast by = known ? scales_at(p.scales, id * p.blocks + block, half) : ScaleAndLeast{};
        if (column < p.columns) {
            p.out[row * p.columns + column] = known ? p.scale * (by.scale * code + by.least) : other;
        }
    };
    const std::int64_t first = block * kBlockColumns + (word - block * Bits) * 4;
    for (int i = 0; i < 4; ++i) {
        put(first + i, code_of<Bits>(codes, i));
        if (Bits == 4) {
            put(first + kBlockColumns / 2 + i, code_of<Bits>(codes >> 4U, i));
        }
    }
}

struct BlockProduct {
    const float* x;
    const std::uint32_t* codes;
    Scales scales;
    float* y;
    std::int64_t x_row, in, out, blocks;
    int rows;
    float alpha;
    bool wide;  // codes and x can be loaded 16 bytes at a time
};

__device__ inline CodeWords codes_at(const BlockProduct& p, std::int64_t first) {
    if (p.wide) {
        return *reinterpret_cast<const CodeWords*>(p.codes + first);
    }
    CodeWords words;
    for (int i = 0; i < kWords; ++i) {
        words.at[i] = p.codes[first + i];
    }
    return words;
}

// Four neighbours of a row of x, 0 past its end.
__device__ inline void x_at(const BlockProduct& p, int row, std::int64_t column, float (&values)[4]) {
    const float* from = p.x + row * p.x_row + column;
    if (p.wide && row < p.rows) {
        load<4>(from, values);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        values[i] = row < p.rows && column + i < p.in ? from[i] : 0.0F;
    }
}

constexpr int kProductWarps = 4;  // of a block, with an output each

// Each warp computes an output of up to `Rows` rows; its lanes share out the codes.
template <int Rows, int Bits>
__global__ void __launch_bounds__(kProductWarps* kWarp) block_linear(BlockProduct p) {
    after_previous();
    constexpr int kParts = Bits / kWords;  // of a block
    const std::int64_t column =
        static_cast<std::int64_t>(blockIdx.x) * kProductWarps + static_cast<int>(threadIdx.x) / kWarp;
    if (column >= p.out) {
        return;
    }
    float sums[Rows] = {};
    for (std::int64_t part = static_cast<int>(threadIdx.x) % kWarp; part < p.blocks * kParts; part += kWarp) {
        const std::int64_t block = part / kParts;
        const std::int64_t first = block * kBlockColumns + (part - block * kParts) * (kBlockColumns / kParts);
        const CodeWords words = codes_at(p, (column * p.blocks * kParts + part) * kWords);
        const int half = static_cast<int>(part - block * kParts);  // of 8 bits
        const ScaleAndLeast low_by = scales_at(p.scales, column * p.blocks + block, half);
        const ScaleAndLeast high_by = scales_at(p.scales, column * p.blocks + block, 1);
        unrolled<Rows>([&](int row) {
            float low_product = 0.0F;
            float low_total = 0.0F;
            float high_product = 0.0F;
            float high_total = 0.0F;
            unrolled<kWords>([&](int word) {
                float low[4];
                float high[4] = {};
                x_at(p, row, first + 4 * word, low);
                if (Bits == 4) {
                    x_at(p, row, first + kBlockColumns / 2 + 4 * word, high);
                }
                for (int i = 0; i < 4; ++i) {
                    low_product += low[i] * code_of<Bits>(words.at[word], i);
                    low_total += low[i];
                    if (Bits == 4) {
                        high_product += high[i] * code_of<Bits>(words.at[word] >> 4U, i);
                        high_total += high[i];
                    }
                }
            });
            sums[row] += low_by.scale * low_product + low_by.least * low_total;
            if (Bits == 4) {
                sums[row] += high_by.scale * high_product + high_by.least * high_total;
            }
        });
    }
    unrolled<Rows>([&](int row) {
        const float sum = reduce_warp(sums[row], Sum{});
        if (threadIdx.x % kWarp == 0 && row < p.rows) {
            p.y[row * p.out + column] = p.alpha * sum;
        }
    });
}

const std::uint32_t* words_of(const Tensor& tensor) {
    return reinterpret_cast<const std::uint32_t*>(data_of<std::int32_t>(tensor));
}

template <class Visit>
void visit_bits(const BlockForm& form, const Visit& visit) {
    form.bits == 8 ? visit(Width<8>{}) : visit(Width<4>{});
}

BlockProduct product_of(const BlockLinear& op) {
    const std::int64_t rows = op.x.dim(0);
    const std::int64_t in = op.x.dim(1);
    return {
        .x = data_of<float>(op.x),
        .codes = words_of(op.codes),
        .scales = {words_of(op.scales), form_of(op.codes, op.scales, in).factors},
        .y = data_of<float>(op.y),
        .x_row = op.x.stride(0),
        .in = in,
        .out = op.y.dim(1),
        .blocks = blocks_of(in),
        .rows = static_cast<int>(rows),
        .alpha = op.alpha,
        .wide = in % kBlockColumns == 0 && (rows == 1 || op.x.stride(0) % 4 == 0) && aligned({&op.x, &op.codes}, 16)};
}

}  // namespace

void CudaBackend::run(const BlockLinear& op) {
    const std::int64_t rows = op.x.dim(0);
    const std::int64_t in = op.x.dim(1);
    const std::int64_t outputs = op.y.dim(1);
    if (op.y.elements() == 0) {
        return;
    }
    if (in == 0) {
        run(Fill{.out = op.y, .value = 0.0F});
        return;
    }
    if (rows > kFewBlockRows) {  // some rows of the weight at a time become numbers, and a product as others
        constexpr std::int64_t kNumbers = 1 << 23;
        const std::int64_t at_once = std::clamp<std::int64_t>(kNumbers / in, 1, outputs);
        const Tensor room = empty({1, at_once, in}, DType::F32);
        for (std::int64_t first = 0; first < outputs; first += at_once) {
            const std::int64_t count = std::min(at_once, outputs - first);
            const Tensor wide = room.narrow(1, 0, count);
            run(BlockEmbed{
                .codes = op.codes.narrow(0, first, count), .scales = op.scales.narrow(0, first, count), .out = wide});
            run(Matmul{.a = op.x,
                       .b = wide.reshape({count, in}),
                       .out = op.y.narrow(1, first, count),
                       .transpose_b = true,
                       .alpha = op.alpha});
        }
        return;
    }
    const Grid grid{dim3(block_count((outputs + kProductWarps - 1) / kProductWarps)),
                    static_cast<unsigned>(kProductWarps * kWarp), kReduceBytes};
    visit_bits(form_of(op.codes, op.scales, in), [&](auto bits) {
        const auto launch = [&](auto most) {
            stream_.launch(BlockLinear::kName, block_linear<decltype(most)::value, decltype(bits)::value>, grid,
                           product_of(op));
        };
        rows == 1 ? launch(Width<1>{}) : rows <= 4 ? launch(Width<4>{}) : launch(Width<kFewBlockRows>{});
    });
}

void CudaBackend::run(const BlockEmbed& op) {
    if (op.out.elements() == 0) {
        return;
    }
    const std::int64_t columns = op.out.dim(2);
    const BlockForm form = form_of(op.codes, op.scales, columns);
    visit_bits(form, [&](auto bits) {
        constexpr int kBits = decltype(bits)::value;
        const std::int64_t blocks = blocks_of(columns);
        const std::int64_t items = op.out.dim(0) * op.out.dim(1) * blocks * kBits;
        stream_.launch(
            BlockEmbed::kName, block_embed<kBits>, item_grid(items),
            BlockTable{data_of<std::int32_t>(op.ids), words_of(op.codes), Scales{words_of(op.scales), form.factors},
                       data_of<float>(op.out), items, columns, blocks, op.codes.dim(0), op.scale});
    });
}

}  // namespace headscope::cuda
