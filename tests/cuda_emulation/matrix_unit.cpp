// The emulated tensor cores and asynchronous copies.
#include "backends/cuda/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "emulator.h"

namespace headscope::cuda {

using namespace cuda_emulation;

namespace {

constexpr std::size_t kRowBytes = 16;
constexpr std::uint32_t kBeyondTf32 = (1U << 13U) - 1;  // bits of F32 that TF32 has not

// What an instruction wants of each place in shared memory.
void check_shared(const char* instruction, const void* place) {
    if (reinterpret_cast<std::uintptr_t>(place) % kRowBytes != 0) {
        complain(fmt::format("{}: an address is no multiple of {} bytes", instruction, kRowBytes));
    }
    if (!is_shared(place, kRowBytes)) {
        complain(fmt::format("{}: an address is outside of the launch's shared memory", instruction));
    }
}

// Element `column` of a row of eight.
std::uint32_t element(const WarpWords& row, unsigned column) {
    return row[column / 2] >> (column % 2 * 16U) & 0xFFFFU;
}

}  // namespace

namespace matrix_unit {

Fragment load_rows(const std::uint16_t* row_of_lane, bool transposed) {
    check_shared("ldmatrix", row_of_lane);
    std::uint32_t own[4];
    std::memcpy(own, row_of_lane, kRowBytes);
    const WarpWords* rows = gather(own, 4);
    const unsigned g = lane() / 4;
    const unsigned t = lane() % 4;
    Fragment fragment{};
    for (unsigned matrix = 0; matrix < 4; ++matrix, rows += 8) {
        fragment.at[matrix] = transposed ? element(rows[2 * t], g) | element(rows[2 * t + 1], g) << 16U : rows[g][t];
    }
    return fragment;
}

void multiply_add(float (&c)[4], const float (&a)[8], const float (&b)[4]) {
    std::array<std::uint32_t, 12> own{};
    std::transform(a, a + 8, own.begin(), [](float value) { return float_to_bits(value); });
    std::transform(b, b + 4, own.begin() + 8, [](float value) { return float_to_bits(value); });
    const WarpWords* lanes = gather(own.data(), own.size());
    const unsigned g = lane() / 4;
    const unsigned t = lane() % 4;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned lower = i / 2;                       // whether the row is g + 8
        const WarpWords* row = lanes + std::size_t{4} * g;  // four lanes hold a row of A, and four a column of B
        const WarpWords* column = lanes + std::size_t{4} * (2 * t + i % 2);
        for (unsigned k = 0; k < 16; ++k) {
            const unsigned of_a = k / 8 * 4 + lower * 2 + k % 2;
            const unsigned of_b = 8 + k / 8 * 2 + k % 2;
            c[i] += std::bit_cast<float>(row[k % 8 / 2][of_a]) * std::bit_cast<float>(column[k % 8 / 2][of_b]);
        }
    }
}

void multiply_add_tf32(float (&c)[4], const Fragment& a, const std::uint32_t (&b)[2]) {
    const std::array<std::uint32_t, 6> own{a.at[0], a.at[1], a.at[2], a.at[3], b[0], b[1]};
    const WarpWords* lanes = gather(own.data(), own.size());
    const unsigned g = lane() / 4;
    const unsigned t = lane() % 4;
    const auto number = [](std::uint32_t word) { return std::bit_cast<float>(word & ~kBeyondTf32); };
    for (unsigned i = 0; i < 4; ++i) {
        const WarpWords* row = lanes + std::size_t{4} * g;
        const WarpWords* column = lanes + std::size_t{4} * (2 * t + i % 2);
        for (unsigned k = 0; k < 8; ++k) {
            c[i] += number(row[k % 4][k / 4 * 2 + i / 2]) * number(column[k % 4][4 + k / 4]);
        }
    }
}

void wait_for_copies(int groups) {
    DeferredCopies& deferred = deferred_copies();
    const auto arrives = [&](const DeferredCopies::Copy& copy) {
        return copy.group + static_cast<std::uint64_t>(groups) < deferred.committed;
    };
    for (const DeferredCopies::Copy& copy : deferred.copies) {
        if (arrives(copy) && copy.from != nullptr) {
            std::memcpy(copy.to, copy.from, kRowBytes);
        } else if (arrives(copy)) {
            std::memset(copy.to, 0, kRowBytes);
        }
    }
    std::erase_if(deferred.copies, arrives);
}

}  // namespace matrix_unit

std::uint32_t tf32_bits(float value) {
    const std::uint32_t bits = float_to_bits(value);
    return std::isfinite(value) ? (bits + (kBeyondTf32 + 1) / 2) & ~kBeyondTf32 : bits;
}

void copy_async(void* to_shared, const void* from, bool there) {
    check_shared("cp.async", to_shared);
    if (there && reinterpret_cast<std::uintptr_t>(from) % kRowBytes != 0) {
        complain("cp.async: an address to copy from is no multiple of 16 bytes");
    }
    deferred_copies().copies.push_back({to_shared, there ? from : nullptr, deferred_copies().committed});
}

void commit_copies() {
    ++deferred_copies().committed;
}

}  // namespace headscope::cuda
