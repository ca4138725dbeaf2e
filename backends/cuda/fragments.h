// Tiles in shared memory as operands and results of the tensor cores (matrix_unit.h). A warp makes each call together.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "backends/cuda/fused_attention_tiles.h"
#include "backends/cuda/matrix_unit.h"

namespace headscope::cuda {

// Of A's columns and B's rows: 16 in 16 bits, 8 in TF32.
template <class T>
constexpr int kProductDepth = static_cast<int>(32 / sizeof(T));
// Products that 16 of them need.
template <class T>
constexpr int kProductSteps = 16 / kProductDepth<T>;

// Rows of `pitch` elements.
template <class T>
struct SharedTile {
    T* data;
    int pitch;
    __device__ T* at(int row, int column) const { return data + row * pitch + column; }
    __device__ const std::uint16_t* bits(int row, int column) const {
        return reinterpret_cast<const std::uint16_t*>(at(row, column));
    }
};

__device__ inline Fragment rounded(const Fragment& words) {
    Fragment to{};
    unrolled<4>([&](int i) { to.at[i] = tf32_bits(bits_to_float(words.at[i])); });
    return to;
}

// The matrix A of 16 rows that begins at (row, column) of a tile.
template <class T>
__device__ inline Fragment left_fragment(const SharedTile<T>& tile, int row, int column) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const Fragment words =
        load_matrices<false>(tile.bits(row + lane % 8 + lane / 8 % 2 * 8, column + lane / 16 * kVector<T>));
    if constexpr (std::is_same_v<T, float>) {
        return rounded(words);
    } else {
        return words;
    }
}

// Two neighbouring matrices B of 8 columns, in at[0], at[1] and in at[2], at[3]: rows from k and columns from n of a
// tile whose rows are their columns.
template <class T>
__device__ inline Fragment right_fragments(const SharedTile<T>& tile, int k, int n) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int half_of_k = lane / 8 % 2 * kVector<T>;
    const Fragment words = load_matrices<false>(tile.bits(n + lane % 8 + lane / 16 * 8, k + half_of_k));
    if constexpr (std::is_same_v<T, float>) {
        return rounded(words);
    } else {
        return words;
    }
}

// The same two of a tile that holds them as they are. In TF32 their rows, and the columns of the A's below, stand in
// another order, in which sums of F32 have them: a lane has 2 t and 2 t + 1 in the places of t and t + 4.
template <class T>
__device__ inline Fragment right_fragments_by_rows(const SharedTile<T>& tile, int k, int n) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    if constexpr (std::is_same_v<T, float>) {
        const int row = k + lane % 4 * 2;
        const int column = n + lane / 4;
        return {tf32_bits(*tile.at(row, column)), tf32_bits(*tile.at(row + 1, column)),
                tf32_bits(*tile.at(row, column + 8)), tf32_bits(*tile.at(row + 1, column + 8))};
    } else {
        const int half_of_k = lane / 8 % 2 * 8;
        return load_matrices<true>(tile.bits(k + lane % 8 + half_of_k, n + lane / 16 * 8));
    }
}

// The A for these that begins at (row, column) of a tile, or at (column, row) of one that holds its transpose.
template <bool Transposed, class T>
__device__ inline Fragment left_fragment_by_rows(const SharedTile<T>& tile, int row, int column) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    if constexpr (std::is_same_v<T, float>) {
        Fragment to{};
        unrolled<4>([&](int i) {
            const int r = row + lane / 4 + i % 2 * 8;
            const int c = column + lane % 4 * 2 + i / 2;
            to.at[i] = tf32_bits(Transposed ? *tile.at(c, r) : *tile.at(r, c));
        });
        return to;
    } else if constexpr (Transposed) {
        return load_matrices<true>(tile.bits(column + lane % 8 + lane / 16 * 8, row + lane / 8 % 2 * 8));
    } else {
        return left_fragment(tile, row, column);
    }
}

// Two neighbouring sums of 16 x 8, rounded, are one such A, or in TF32 two.
template <class T>
struct LeftOfSums {
    Fragment at[kProductSteps<T>];
};
template <class T>
__device__ inline LeftOfSums<T> as_left(const float (&first)[4], const float (&second)[4]) {
    if constexpr (std::is_same_v<T, float>) {
        return {{{tf32_bits(first[0]), tf32_bits(first[2]), tf32_bits(first[1]), tf32_bits(first[3])},
                 {tf32_bits(second[0]), tf32_bits(second[2]), tf32_bits(second[1]), tf32_bits(second[3])}}};
    } else {
        return {{{pair_bits<T>(first[0], first[1]), pair_bits<T>(first[2], first[3]),
                  pair_bits<T>(second[0], second[1]), pair_bits<T>(second[2], second[3])}}};
    }
}

// Adds the products of one A and both of two neighbouring B.
template <class T>
__device__ inline void multiply_add_both(float (&first)[4], float (&second)[4], const Fragment& left,
                                         const Fragment& right) {
    multiply_add<T>(first, left, right.at[0], right.at[1]);
    multiply_add<T>(second, left, right.at[2], right.at[3]);
}

// 16 rows of D columns, in the layout of sums.
template <int D>
struct RowSums {
    float at[D / 8][4] = {};
};

// sums += A B, where B is `steps` times 16 rows of the tile `b` and A as many columns of the tile `a`, from `row` on.
template <bool Transposed, int D, class T>
__device__ inline void add_tile_product(const SharedTile<T>& a, int row, const SharedTile<T>& b, int steps,
                                        RowSums<D>& sums) {
    for (int k = 0; k < 16 * steps; k += kProductDepth<T>) {
        const Fragment left = left_fragment_by_rows<Transposed>(a, row, k);
        unrolled<D / 16>([&](int i) {
            multiply_add_both<T>(sums.at[2 * i], sums.at[2 * i + 1], left, right_fragments_by_rows(b, k, 16 * i));
        });
    }
}

// Starts to copy rows of an operand into a tile of D columns: zeros from row `limit` and past the columns.
template <int D, class T>
__device__ inline void copy_rows(const HeadRows<const T>& from, int rows, int limit, const SharedTile<T>& to) {
    constexpr int kPacks = D / kVector<T>;
#ifdef __CUDACC__
#pragma unroll 1  // or the compiler for sm_100 keeps the places of all copies, for which there are no registers
#endif
    for (int pack = static_cast<int>(threadIdx.x); pack < rows * kPacks; pack += static_cast<int>(blockDim.x)) {
        const int row = pack / kPacks;
        const int column = pack % kPacks * kVector<T>;
        const bool there = row < limit && column < from.columns;
        copy_async(to.at(row, column), there ? from.row(row) + column : from.data, there);
    }
}

// Writes the 16 rows of a warp, times `factor`, from row `first` of an operand on. They go through rows `first` and on
// of a tile that no other warp uses, so that each thread moves 16 bytes.
template <int D, class T>
__device__ inline void store_rows(const RowSums<D>& sums, float factor, const SharedTile<T>& stage, int first,
                                  int limit, const HeadRows<T>& to, bool accumulate) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    __syncwarp();
    unrolled<D / 8>([&](int i) {
        unrolled<2>([&](int half) {
            const int row = first + lane / 4 + 8 * half;
            const int column = 8 * i + lane % 4 * 2;
            float pair[2] = {sums.at[i][2 * half] * factor, sums.at[i][2 * half + 1] * factor};
            if (accumulate && row < limit && column < to.columns) {
                float present[2];
                load<2>(to.row(row) + column, present);
                pair[0] += present[0];
                pair[1] += present[1];
            }
            store<2>(pair, stage.at(row, column));
        });
    });
    __syncwarp();
    constexpr int kPacks = D / kVector<T>;
    for (int pack = lane; pack < 16 * kPacks; pack += kWarp) {
        const int row = first + pack / kPacks;
        const int column = pack % kPacks * kVector<T>;
        if (row < limit && column < to.columns) {
            using Moved = Pack<T, kVector<T>>;
            *reinterpret_cast<Moved*>(to.row(row) + column) = *reinterpret_cast<const Moved*>(stage.at(row, column));
        }
    }
}

}  // namespace headscope::cuda
