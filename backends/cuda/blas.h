// What products through cuBLAS and through cuBLASLt have in common.
#pragma once

#include <cublas_v2.h>

#include <cstdint>
#include <memory>
#include <type_traits>

#include "backends/cuda/stream.h"
#include "tensor/tensor.h"

namespace headscope::cuda {

// What cuBLAS or cuBLASLt made (Handle), given back by `destroy` also where what comes next fails.
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
// The same for a product that was to be enqueued. cuBLAS has a CUDA runtime of its own, whose errors ours does not
// tell: a device that is lost is told by the stream.
void enqueued_product(Stream& stream, const char* op, cublasStatus_t status);

// Whether this says of a product that it is not for this card, these types or these alignments, and is no fault: the
// device works on, and nothing was enqueued.
bool refused(cublasStatus_t status);

// Bytes: the largest power of two that divides the address, at most kMostAlignment.
std::uint32_t alignment_of(std::uintptr_t address);
constexpr std::uint32_t kMostAlignment = 256;  // cuBLASLt looks for no more

cudaDataType data_type(DType dtype);

// How far apart a matrix's rows are. cuBLAS asks for no less than they are long, also where there is one row and its
// stride is anything.
std::int64_t row_step(const Tensor& tensor);

}  // namespace headscope::cuda
