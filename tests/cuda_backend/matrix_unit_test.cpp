// The instructions of the tensor cores as the emulation carries them out, beside the tables of the PTX manual ("Matrix
// fragments for mma.m16n8k16", "ldmatrix"): which element of a matrix is in which register of which lane.
#include "backends/cuda/matrix_unit.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "backends/cuda/reduce.h"
#include "backends/cuda/stream.h"
#include "support/check.h"

using namespace headscope;
using namespace headscope::cuda;

namespace {

constexpr int kLanes = 32;

// Runs `kernel` with one warp.
template <class... Parameters, class... Arguments>
void on_one_warp(void (*kernel)(Parameters...), std::size_t shared_bytes_of_launch, Arguments... arguments) {
    Stream stream(0, false);
    stream.launch("test", kernel, Grid{dim3(1), kLanes, shared_bytes_of_launch}, arguments...);
    stream.synchronize();
}

// Element `index` of two in each word.
std::uint16_t element(const std::uint32_t* words, int index) {
    return static_cast<std::uint16_t>(words[index / 2] >> (index % 2 * 16U));
}

// Rows of eight elements, of which each tells where it is: 8 row + column.
template <bool Transposed>
void load_four(Fragment* to) {
    auto* rows = reinterpret_cast<std::uint16_t*>(shared_bytes);
    const auto own = static_cast<unsigned>(threadIdx.x);
    for (unsigned column = 0; column < 8; ++column) {
        rows[8 * own + column] = static_cast<std::uint16_t>(8 * own + column);
    }
    __syncwarp();
    to[own] = load_matrices<Transposed>(rows + std::size_t{8} * own);
}

template <class T>
void multiply(const Fragment* a, const Fragment* b, float* c) {
    const std::size_t own = threadIdx.x;
    float sum[4];
    std::memcpy(sum, c + 4 * own, sizeof sum);
    multiply_add<T>(sum, a[own], b[own].at[0], b[own].at[1]);
    std::memcpy(c + 4 * own, sum, sizeof sum);
}

// A small number that both types hold, other at every place.
float number(int row, int column) {
    return static_cast<float>((row * 7 + column * 3) % 19 - 9);
}

template <class T>
std::uint32_t bits_of(float value) {
    T stored{};
    from_float(value, stored);
    return stored.bits;
}

std::uint32_t bits_of_one() {
    return float_to_bits(1.0F);
}

template <class T>
void check_product() {
    std::vector<Fragment> a(kLanes);
    std::vector<Fragment> b(kLanes);
    std::vector<float> c(std::size_t{4} * kLanes);
    for (int lane = 0; lane < kLanes; ++lane) {
        const int group = lane / 4;
        const int thread = lane % 4;
        for (int i = 0; i < 8; ++i) {
            const int row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
            const int column = thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
            a[lane].at[i / 2] |= bits_of<T>(number(row, column)) << (i % 2 * 16);
        }
        for (int i = 0; i < 4; ++i) {
            const int row = thread * 2 + (i & 1) + (i >= 2 ? 8 : 0);
            b[lane].at[i / 2] |= bits_of<T>(number(row + 30, group)) << (i % 2 * 16);
            c[4 * lane + i] = number(i < 2 ? group : group + 8, thread * 2 + (i & 1) + 50);
        }
    }
    on_one_warp(multiply<T>, 0, a.data(), b.data(), c.data());
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < 4; ++i) {
            const int row = i < 2 ? lane / 4 : lane / 4 + 8;
            const int column = lane % 4 * 2 + (i & 1);
            float expected = number(row, column + 50);
            for (int k = 0; k < 16; ++k) {
                expected += number(row, k) * number(k + 30, column);
            }
            INFO("lane " << lane << ", c" << i);
            CHECK(c[4 * lane + i] == expected);
        }
    }
}

// The A or B of a lane in TF32: element (row of A or column of B, k) is in the word that the manual says.
void check_tf32_product() {
    std::vector<Fragment> a(kLanes);
    std::vector<Fragment> b(kLanes);
    std::vector<float> c(std::size_t{4} * kLanes, 1.0F);
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < 4; ++i) {
            a[lane].at[i] = tf32_bits(number(lane / 4 + i % 2 * 8, lane % 4 + i / 2 * 4));
        }
        b[lane].at[0] = tf32_bits(number(lane % 4 + 30, lane / 4));
        b[lane].at[1] = tf32_bits(number(lane % 4 + 34, lane / 4));
    }
    on_one_warp(multiply<float>, 0, a.data(), b.data(), c.data());
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < 4; ++i) {
            float expected = 1.0F;
            for (int k = 0; k < 8; ++k) {
                expected += number(lane / 4 + i / 2 * 8, k) * number(k + 30, lane % 4 * 2 + i % 2);
            }
            INFO("lane " << lane << ", c" << i);
            CHECK(c[4 * lane + i] == expected);
        }
    }
}

// 1 times a word that may hold more than TF32 has.
float one_times(std::uint32_t word) {
    std::vector<Fragment> a(kLanes, Fragment{{bits_of_one(), 0, 0, 0}});
    std::vector<Fragment> b(kLanes, Fragment{{word, 0, 0, 0}});
    std::vector<float> c(std::size_t{4} * kLanes);
    on_one_warp(multiply<float>, 0, a.data(), b.data(), c.data());
    return c[0] / 4;  // four lanes hold a row of A
}

// What a thread sees of its own copies: before it waits, after it waited for all groups but the last, and for all.
void copy_two_groups(const std::uint32_t* from, std::uint32_t* to) {
    auto* own = reinterpret_cast<std::uint32_t*>(shared_bytes) + std::size_t{8} * threadIdx.x;
    copy_async(own, from, true);
    commit_copies();
    copy_async(own + 4, from, false);
    commit_copies();
    std::memcpy(to, own, 32);
    wait_for_copies<1>();
    std::memcpy(to + 8, own, 32);
    wait_for_copies<0>();
    std::memcpy(to + 16, own, 32);
}

void load_from_odd_row(Fragment* to) {
    to[threadIdx.x] = load_matrices<false>(reinterpret_cast<std::uint16_t*>(shared_bytes) + 4);
}

void load_past_the_end(Fragment* to) {
    to[threadIdx.x] = load_matrices<false>(reinterpret_cast<std::uint16_t*>(shared_bytes) + 8);
}

void check_refused(void (*kernel)(Fragment*)) {
    std::vector<Fragment> found(kLanes);
    CHECK_THROWS_AS(on_one_warp(kernel, 16, found.data()), Error);
}

}  // namespace

TEST_CASE("four matrices are loaded, each lane getting two neighbours of a row of each", "[cuda][matrix_unit]") {
    std::vector<Fragment> plain(kLanes);
    std::vector<Fragment> transposed(kLanes);
    on_one_warp(load_four<false>, 512, plain.data());
    on_one_warp(load_four<true>, 512, transposed.data());
    for (int matrix = 0; matrix < 4; ++matrix) {
        for (int row = 0; row < 8; ++row) {
            for (int column = 0; column < 8; ++column) {
                const int lane = row * 4 + column / 2;
                INFO("matrix " << matrix << ", row " << row << ", column " << column);
                CHECK(element(&plain[lane].at[matrix], column % 2) == 64 * matrix + 8 * row + column);
                CHECK(element(&transposed[lane].at[matrix], column % 2) == 64 * matrix + 8 * column + row);
            }
        }
    }
}

TEST_CASE("a product of 16 x 8 x 16 is added in the layout of the manual", "[cuda][matrix_unit]") {
    check_product<Half>();
    check_product<BFloat16>();
}

TEST_CASE("a product of 16 x 8 x 8 in TF32 is added in the layout of the manual", "[cuda][matrix_unit]") {
    check_tf32_product();
}

TEST_CASE("operands are rounded to TF32, to nearest, which products alone do not", "[cuda][matrix_unit]") {
    const float half = 1.0F + 0x1p-11F;
    CHECK(tf32_bits(half) == float_to_bits(1.0F + 0x1p-10F));
    CHECK(tf32_bits(-half) == float_to_bits(-1.0F - 0x1p-10F));
    CHECK(tf32_bits(1.0F + 0x1.FFCp-12F) == float_to_bits(1.0F));
    CHECK(tf32_bits(INFINITY) == float_to_bits(INFINITY));
    CHECK(std::isnan(bits_to_float(tf32_bits(NAN))));
    CHECK(one_times(tf32_bits(half)) == 1.0F + 0x1p-10F);
    CHECK(one_times(float_to_bits(half)) == 1.0F);
}

TEST_CASE("an asynchronous copy arrives when its group is waited for", "[cuda][matrix_unit]") {
    alignas(16) const std::array<std::uint32_t, 4> from{1, 2, 3, 4};
    std::array<std::uint32_t, 24> to{};
    on_one_warp(copy_two_groups, std::size_t{32} * kLanes, from.data(), to.data());
    constexpr std::uint32_t kNone = 0xFFFFFFFFU;
    CHECK(to == std::array<std::uint32_t, 24>{kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone,  //
                                              1,     2,     3,     4,     kNone, kNone, kNone, kNone,  //
                                              1,     2,     3,     4,     0,     0,     0,     0});
}

TEST_CASE("a row of a matrix that is not aligned ends the launch", "[.lost_misaligned]") {
    check_refused(load_from_odd_row);
}

TEST_CASE("a row of a matrix past the launch's shared memory ends the launch", "[.lost_outside]") {
    check_refused(load_past_the_end);
}
