#include "backends/cuda/blas.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/backend.h"

namespace headscope::cuda {

void require_blas(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) {
        return;
    }
    const std::string message = fmt::format("cuBLAS could not {} ({})", what, cublasGetStatusString(status));
    if (status == CUBLAS_STATUS_ALLOC_FAILED) {
        throw OutOfMemory(message);
    }
    throw Error(message);
}

void enqueued_product(Stream& stream, const char* op, cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        stream.find_fault(op);
        require_blas(status, op);
    }
    stream.enqueued(op, cudaSuccess);
}

bool refused(cublasStatus_t status) {
    return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
           status == CUBLAS_STATUS_ARCH_MISMATCH;
}

std::uint32_t alignment_of(std::uintptr_t address) {
    const std::uintptr_t most = address | kMostAlignment;
    return static_cast<std::uint32_t>(most & (~most + 1));
}

cudaDataType data_type(DType dtype) {
    switch (dtype) {
        case DType::F32: return CUDA_R_32F;
        case DType::F16: return CUDA_R_16F;
        case DType::BF16: return CUDA_R_16BF;
        default: throw Error(fmt::format("the cuda backend has no products of {}", name_of(dtype)));
    }
}

std::int64_t row_step(const Tensor& tensor) {
    return std::max<std::int64_t>({tensor.dim(-2) > 1 ? tensor.stride(-2) : 0, tensor.dim(-1), 1});
}

}  // namespace headscope::cuda
