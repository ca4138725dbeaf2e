// The part of backends/cuda/matrix_unit.h that no CPU has: the same calls, carried out by the fragment layouts of the
// PTX manual. What they find wrong ends the launch. Included by that header, after what both need.
#pragma once

namespace headscope::cuda {

namespace matrix_unit {

Fragment load_rows(const std::uint16_t* row_of_lane, bool transposed);
// The elements of the three operands of one lane, widened.
void multiply_add(float (&c)[4], const float (&a)[8], const float (&b)[4]);
// The same in TF32, of which the operands' words may hold more than it has.
void multiply_add_tf32(float (&c)[4], const Fragment& a, const std::uint32_t (&b)[2]);
void wait_for_copies(int groups);

template <class T>
void widen(std::uint32_t word, float* to) {
    to[0] = to_float(T{static_cast<std::uint16_t>(word & 0xFFFFU)});
    to[1] = to_float(T{static_cast<std::uint16_t>(word >> 16U)});
}

}  // namespace matrix_unit

template <bool Transposed>
Fragment load_matrices(const std::uint16_t* row_of_lane) {
    return matrix_unit::load_rows(row_of_lane, Transposed);
}

template <class T>
void multiply_add(float (&c)[4], const Fragment& a, std::uint32_t b0, std::uint32_t b1) {
    float left[8];
    float right[4];
    for (int word = 0; word < 4; ++word) {
        matrix_unit::widen<T>(a.at[word], left + 2 * word);
    }
    matrix_unit::widen<T>(b0, right);
    matrix_unit::widen<T>(b1, right + 2);
    matrix_unit::multiply_add(c, left, right);
}

template <>
inline void multiply_add<float>(float (&c)[4], const Fragment& a, std::uint32_t b0, std::uint32_t b1) {
    matrix_unit::multiply_add_tf32(c, a, {b0, b1});
}

std::uint32_t tf32_bits(float value);
void copy_async(void* to_shared, const void* from, bool there);
void commit_copies();

template <int Groups>
void wait_for_copies() {
    matrix_unit::wait_for_copies(Groups);
}

}  // namespace headscope::cuda
