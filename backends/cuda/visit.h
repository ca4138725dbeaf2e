// From a tensor's dtype to the type for which a kernel is compiled.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/storage.h"
#include "support/check.h"

namespace headscope::cuda {

// Calls visit(T{}) with the storage type of a real dtype.
template <class Visit>
void visit_real(const char* op, DType dtype, const Visit& visit) {
    switch (dtype) {
        case DType::F32: return visit(float{});
        case DType::F16: return visit(Half{});
        case DType::BF16: return visit(BFloat16{});
        default: throw Error(std::string("the cuda backend has no ") + op + " for " + name_of(dtype));
    }
}

template <int N>
struct Width {
    static constexpr int value = N;
};

// How many neighbours of T one thread moves at once: 16 bytes.
template <class T>
constexpr int kVector = static_cast<int>(16 / sizeof(T));

// Whether each of these is aligned to `bytes`. Undefined tensors are ignored.
inline bool aligned(std::initializer_list<const Tensor*> tensors, std::size_t bytes) {
    for (const Tensor* tensor : tensors) {
        if (reinterpret_cast<std::uintptr_t>(data_of<void>(*tensor)) % bytes != 0) {
            return false;
        }
    }
    return true;
}

// Calls visit(T{}, Width<N>{}) with N = kVector<T> if rows of `columns` contiguous elements can be moved that way, else
// 1.
template <class Visit>
void visit_rows(const char* op, DType dtype, std::int64_t columns, std::initializer_list<const Tensor*> tensors,
                const Visit& visit) {
    visit_real(op, dtype, [&](auto tag) {
        using T = decltype(tag);
        if (columns % kVector<T> == 0 && aligned(tensors, 16)) {
            visit(tag, Width<kVector<T>>{});
        } else {
            visit(tag, Width<1>{});
        }
    });
}

}  // namespace headscope::cuda
