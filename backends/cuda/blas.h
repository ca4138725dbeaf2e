// Common to products through cuBLAS and cuBLASLt.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <memory>
#include <type_traits>

#include "backends/cuda/stream.h"
#include "tensor/tensor.h"

namespace headscope::cuda {

// Owns a handle of cuBLAS or cuBLASLt, also while a constructor throws.
template <auto destroy>
struct Destroy {
    template <class Made>
    void operator()(Made* made) const {
        destroy(made);
    }
};
template <class Handle, auto destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

// OutOfMemory or Error naming what was tried, unless `status` is success.
void require_blas(cublasStatus_t status, const char* what);
// The same for enqueuing a product. cuBLAS has its own CUDA runtime, whose errors ours does not see: the stream reports
// a lost device.
void enqueued_product(Stream& stream, const char* op, cublasStatus_t status);

// Whether this status only means that a product is not supported for this card, these types or alignments: the device
// works, and nothing was enqueued.
bool refused(cublasStatus_t status);

// In bytes: the largest power of two that divides the address, at most kMostAlignment.
std::uint32_t alignment_of(std::uintptr_t address);
constexpr std::uint32_t kMostAlignment = 256;  // cuBLASLt uses no more

cudaDataType data_type(DType dtype);

// The row stride. cuBLAS requires at least the row's length, even for a single row with any stride.
std::int64_t row_step(const Tensor& tensor);

}  // namespace headscope::cuda
