// A host tensor as pointers, sizes and strides.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "backend/convert.h"
#include "backends/cpu/memory/host_arena.h"
#include "support/check.h"
#include "tensor/tensor.h"

namespace headscope {

template <class T>
constexpr DType kDTypeOf = DType::F32;
template <>
inline constexpr DType kDTypeOf<double> = DType::F64;
template <>
inline constexpr DType kDTypeOf<std::int32_t> = DType::I32;
template <>
inline constexpr DType kDTypeOf<std::int8_t> = DType::I8;
template <>
inline constexpr DType kDTypeOf<StoredF16> = DType::F16;
template <>
inline constexpr DType kDTypeOf<StoredBF16> = DType::BF16;

inline std::byte* first_byte(const Tensor& tensor) {
    const auto* buffer = dynamic_cast<const HostBuffer*>(tensor.buffer.get());
    HEADSCOPE_CHECK(buffer != nullptr, "a tensor of another device was given to the CPU: " + tensor.to_string());
    return buffer->data() + tensor.offset * static_cast<std::int64_t>(size_of(tensor.dtype));
}

// The first element; nullptr for an absent optional tensor.
template <class T>
T* data_of(const Tensor& tensor) {
    if (!tensor.defined()) {
        return nullptr;
    }
    constexpr DType kExpected = kDTypeOf<std::remove_const_t<T>>;
    HEADSCOPE_CHECK(tensor.dtype == kExpected,
                    std::string("the CPU expected ") + name_of(kExpected) + " here, found " + tensor.to_string());
    return reinterpret_cast<T*>(first_byte(tensor));
}

// The number in a one-element I32 tensor, or `otherwise` if it is absent.
inline std::int64_t scalar_of(const Tensor& tensor, std::int64_t otherwise) {
    return tensor.defined() ? *data_of<std::int32_t>(tensor) : otherwise;
}

// Any tensor as four-dimensional; missing outer dimensions have size 1.
template <class T>
struct View4 {
    T* data = nullptr;
    std::array<std::int64_t, 4> size{1, 1, 1, 1};
    std::array<std::int64_t, 4> step{};

    View4() = default;
    explicit View4(const Tensor& tensor) : data(data_of<T>(tensor)) {
        const auto pad = static_cast<std::size_t>(kMaxRank - tensor.rank());
        for (int dim = 0; dim < tensor.rank(); ++dim) {
            size[pad + static_cast<std::size_t>(dim)] = tensor.dim(dim);
            step[pad + static_cast<std::size_t>(dim)] = tensor.stride(dim);
        }
    }
    T* row(std::int64_t i, std::int64_t j, std::int64_t k) const {
        return data + i * step[0] + j * step[1] + k * step[2];
    }
    T& at(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t l) const {
        return data[i * step[0] + j * step[1] + k * step[2] + l * step[3]];
    }
};

// Calls visit(i, j, k, l) for every place of a view.
template <class T, class Visit>
void for_each_index(const View4<T>& view, Visit&& visit) {
    for (std::int64_t i = 0; i < view.size[0]; ++i) {
        for (std::int64_t j = 0; j < view.size[1]; ++j) {
            for (std::int64_t k = 0; k < view.size[2]; ++k) {
                for (std::int64_t l = 0; l < view.size[3]; ++l) {
                    visit(i, j, k, l);
                }
            }
        }
    }
}

}  // namespace headscope
