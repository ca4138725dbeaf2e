// LogSoftmaxTopK: the best classes of each row. Paper 6.1.
//
// Rule: values and indices are overwritten, and share no memory with logits. Equal logits rank by the smaller index,
// NaN last. A row's sum is in F32, in an order that the number of classes and the dtype decide.
//
// Rows of up to kMostParts * kLongestPart classes are read once. Blocks hold parts of a row in registers: each warp
// finds the best of its own, one warp of the block merges those of all, and one warp for each row merges the parts.
#include "backends/cuda/top_k.h"

#include "backend/ops/search.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/dependent_launch.h"
#include "backends/cuda/grids.h"
#include "backends/cuda/reduce.h"
#include "backends/cuda/unrolled.h"
#include "backends/cuda/visit.h"

namespace headscope::cuda {

namespace {

// Larger for what ranks first: a larger value, then a smaller index; NaN ranks after all numbers. Never 0.
__device__ inline std::uint64_t rank_of(float value, std::int64_t index) {
    std::uint32_t order = 0;
    if (value == value) {
        const std::uint32_t bits = float_to_bits(value + 0.0F);  // -0 is 0
        order = (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
    }
    return static_cast<std::uint64_t>(order) << 32U | (0xFFFFFFFFU - static_cast<std::uint32_t>(index));
}

__device__ inline std::uint32_t index_of(std::uint64_t rank) {
    return 0xFFFFFFFFU - static_cast<std::uint32_t>(rank);
}

__device__ inline float value_of(std::uint64_t rank) {
    const auto order = static_cast<std::uint32_t>(rank >> 32U);
    return order == 0 ? NAN : bits_to_float((order & 0x80000000U) != 0 ? order & 0x7FFFFFFFU : ~order);
}

// The best k of one row.
struct Best {
    float* values;          // [k]
    std::int32_t* indices;  // [k]

    // The largest logit and the logarithm of the sum of exponentials are subtracted one after the other: their sum
    // would be rounded, which costs logits in the thousands their decimals.
    __device__ void set(int place, std::uint64_t rank, float largest, float log_rest) const {
        values[place] = (value_of(rank) - largest) - log_rest;
        indices[place] = static_cast<std::int32_t>(index_of(rank));
    }
};

struct TopK {
    float* values;          // [rows, k]
    std::int32_t* indices;  // [rows, k]
    int k;

    __device__ Best row(std::int64_t row) const { return {values + row * k, indices + row * k}; }
};

// What the blocks leave of each part of a row.
struct PartResults {
    std::uint64_t* ranks;  // [rows, parts, k], the first is the best; 0 where a part has fewer classes
    float* largest;        // [rows, parts]: of the logits
    float* totals;         // [rows, parts]: of exp(logit - largest)
};

// A warp calls it: set(place, rank) for the best k of `count` lists of k ranks each, the best first. `count` is at most
// kWarp.
template <class Set>
__device__ inline void merge(const std::uint64_t* lists, int count, int k, const Set& set) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const std::uint64_t* own = lists + lane * k;
    const std::uint64_t* const end = own + k;
    std::uint64_t first = lane < count ? *own : 0;
    for (int place = 0; place < k; ++place) {
        const std::uint64_t best = reduce_warp(first, LargestBits());
        if (first == best && best != 0) {  // ranks differ, so it is one lane's
            ++own;
            first = own < end ? *own : 0;
        }
        if (lane == 0) {
            set(place, best);
        }
    }
}

// N neighbours, of which `count` are there; NaN in place of the others.
template <bool Wide, int N, class T>
__device__ inline void load_part(const T* from, std::int64_t count, float (&to)[N]) {
    if (Wide && count >= N) {
        load<N>(from, to);
        return;
    }
    for (int i = 0; i < N; ++i) {
        to[i] = i < count ? to_float(from[i]) : NAN;
    }
}

// The logits of one thread, in packs of neighbours.
template <class T>
struct HeldLogits {
    static constexpr int kPack = kVector<T>;
    static constexpr int kPacks = kHeldLogits / kPack;
    float at[kPacks][kPack];
    std::int64_t first, end;  // classes of the part

    __device__ std::int64_t column(int pack) const {
        return first + (static_cast<std::int64_t>(pack) * blockDim.x + threadIdx.x) * kPack;
    }
    // body(value, class)
    template <class Body>
    __device__ void each(const Body& body) const {
        unrolled<kPacks>([&](int pack) {
            const std::int64_t start = column(pack);
            for (int i = 0; i < kPack; ++i) {
                body(at[pack][i], start + i);
            }
        });
    }
};

// One block for each part of a row. Without `parts` the part is the whole row.
template <class T, bool Wide>
__global__ void __launch_bounds__(kPartThreads)
    top_k_of_parts(const T* logits, ClassParts shape, PartResults parts, TopK out) {
    after_previous();
    const int count = shape.count();
    const std::int64_t row = blockIdx.x / static_cast<unsigned>(count);
    HeldLogits<T> held;
    held.first = static_cast<std::int64_t>(blockIdx.x % static_cast<unsigned>(count)) * shape.length();
    held.end = held.first + shape.length() < shape.classes ? held.first + shape.length() : shape.classes;
    unrolled<HeldLogits<T>::kPacks>([&](int pack) {
        const std::int64_t column = held.column(pack);
        load_part<Wide>(logits + row * shape.classes + column, held.end - column, held.at[pack]);
    });
    float largest = -INFINITY;
    held.each([&](float value, std::int64_t /*column*/) { largest = value > largest ? value : largest; });
    largest = reduce_block(largest, Maximum());
    float total = 0.0F;
    if (largest != -INFINITY) {
        held.each(
            [&](float value, std::int64_t /*column*/) { total += value == value ? expf(value - largest) : 0.0F; });
    }
    total = reduce_block(total, Sum());

    auto* lists = shared_rest<std::uint64_t>();  // [warps][k]
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    std::uint64_t last = ~std::uint64_t{0};
    for (int found = 0; found < out.k; ++found) {
        std::uint64_t best = 0;
        held.each([&](float value, std::int64_t column) {
            const std::uint64_t rank = column < held.end ? rank_of(value, column) : 0;
            best = rank < last && rank > best ? rank : best;
        });
        last = reduce_warp(best, LargestBits());
        if (threadIdx.x % kWarp == 0) {
            lists[warp * out.k + found] = last;
        }
    }
    __syncthreads();
    if (warp > 0) {
        return;
    }
    const int warps = static_cast<int>(blockDim.x) / kWarp;
    if (parts.ranks == nullptr) {
        const float log_rest = logf(total);
        merge(lists, warps, out.k,
              [&](int place, std::uint64_t rank) { out.row(row).set(place, rank, largest, log_rest); });
        return;
    }
    const std::int64_t part = blockIdx.x;
    merge(lists, warps, out.k, [&](int place, std::uint64_t rank) { parts.ranks[part * out.k + place] = rank; });
    if (threadIdx.x == 0) {
        parts.largest[part] = largest;
        parts.totals[part] = total;
    }
}

// One warp for each row.
__global__ void __launch_bounds__(kWarp) top_k_of_rows(int count, PartResults parts, TopK out) {
    after_previous();
    const std::int64_t row = blockIdx.x;
    const int lane = static_cast<int>(threadIdx.x);
    auto* lists = shared_rest<std::uint64_t>();  // [parts][k]
    for (int i = lane; i < count * out.k; i += kWarp) {
        lists[i] = parts.ranks[row * count * out.k + i];
    }
    const bool is_part = lane < count;
    const float own = is_part ? parts.largest[row * count + lane] : -INFINITY;
    const float largest = reduce_warp(own, Maximum());
    const float total = is_part ? parts.totals[row * count + lane] * rescale(own, largest) : 0.0F;
    const float log_rest = logf(reduce_warp(total, Sum()));
    __syncwarp();
    merge(lists, count, out.k,
          [&](int place, std::uint64_t rank) { out.row(row).set(place, rank, largest, log_rest); });
}

constexpr unsigned kTopKThreads = 1024;

// One block for each row, of any number of classes: k times the best of those after the last one found.
template <class T>
__global__ void __launch_bounds__(kTopKThreads) log_softmax_top_k(const T* logits, std::int64_t classes, TopK out) {
    after_previous();
    const T* row = logits + blockIdx.x * classes;
    float largest = -INFINITY;
    for (std::int64_t c = threadIdx.x; c < classes; c += blockDim.x) {
        const float value = to_float(row[c]);
        largest = value > largest ? value : largest;
    }
    largest = reduce_block(largest, Maximum());
    float total = 0.0F;
    for (std::int64_t c = threadIdx.x; c < classes; c += blockDim.x) {
        const float value = to_float(row[c]);
        total += value == value ? expf(value - largest) : 0.0F;
    }
    const float log_rest = logf(reduce_block(total, Sum()));
    std::uint64_t last = ~std::uint64_t{0};
    for (int found = 0; found < out.k; ++found) {
        std::uint64_t best = 0;
        for (std::int64_t c = threadIdx.x; c < classes; c += blockDim.x) {
            const std::uint64_t rank = rank_of(to_float(row[c]), c);
            best = rank < last && rank > best ? rank : best;
        }
        last = reduce_block(best, LargestBits());
        if (threadIdx.x == 0) {
            out.row(blockIdx.x).set(found, last, largest, log_rest);
        }
    }
}

std::size_t list_bytes(int lists, int k) {
    return kReduceBytes + static_cast<std::size_t>(lists) * static_cast<std::size_t>(k) * sizeof(std::uint64_t);
}

}  // namespace

void CudaBackend::run(const LogSoftmaxTopK& op) {
    const std::int64_t rows = op.logits.dim(0);
    if (rows == 0) {
        return;
    }
    const ClassParts shape{op.logits.dim(1)};
    const TopK out{data_of<float>(op.values), data_of<std::int32_t>(op.indices), static_cast<int>(op.values.dim(1))};
    if (!kernels_.allow(Kernel::TopK, compiled_) || !shape.fit()) {
        visit_real(LogSoftmaxTopK::kName, op.logits.dtype, [&](auto tag) {
            using T = decltype(tag);
            stream_.launch(LogSoftmaxTopK::kName, log_softmax_top_k<T>,
                           row_grid(rows, shape.classes, 4, 0, kTopKThreads), data_of<T>(op.logits), shape.classes,
                           out);
        });
        return;
    }
    const int count = shape.count();
    const std::int64_t blocks = rows * count;
    PartResults parts{};
    std::shared_ptr<CudaBuffer> memory;
    if (count > 1) {
        const auto ranks = static_cast<std::size_t>(blocks * out.k) * sizeof(std::uint64_t);
        const auto floats = static_cast<std::size_t>(blocks) * sizeof(float);
        memory = scratch(ranks + 2 * floats);
        parts = {reinterpret_cast<std::uint64_t*>(memory->data()), reinterpret_cast<float*>(memory->data() + ranks),
                 reinterpret_cast<float*>(memory->data() + ranks + floats)};
    }
    visit_rows(LogSoftmaxTopK::kName, op.logits.dtype, shape.classes, {&op.logits}, [&](auto tag, auto width) {
        using T = decltype(tag);
        constexpr bool kWide = decltype(width)::value > 1;
        const auto threads = static_cast<unsigned>(shape.threads());
        stream_.launch(LogSoftmaxTopK::kName, top_k_of_parts<T, kWide>,
                       Grid{dim3(block_count(blocks)), threads, list_bytes(shape.threads() / kWarp, out.k)},
                       data_of<T>(op.logits), shape, parts, out);
    });
    if (count > 1) {
        stream_.launch(LogSoftmaxTopK::kName, top_k_of_rows,
                       Grid{dim3(block_count(rows)), kWarp, list_bytes(count, out.k)}, count, parts, out);
    }
}

}  // namespace headscope::cuda
