// cuBLAS on the CPU: the plain definition of what the backend calls, with sums in F32.
#include "cublas_v2.h"

#include <algorithm>

#include "emulator.h"
#include "products.h"

struct EmulatedCublas {
    cudaStream_t stream = nullptr;
};

namespace {

using headscope::DType;
using headscope::cuda_emulation::dtype_of;
using headscope::cuda_emulation::Operand;
using headscope::cuda_emulation::Sums;

struct Gemm {
    std::int64_t m, n, k;
    float alpha, beta;
    Operand a, b;
    unsigned char* c;
    DType c_dtype;
    std::int64_t ldc, c_stride;
};

void multiply(const Gemm& gemm, std::int64_t index) {
    Sums sums(gemm.a, gemm.b, index, gemm.m, 0, gemm.k);
    for (std::int64_t j = 0; j < gemm.n; ++j) {
        const std::vector<float>& column = sums.column(j);
        for (std::int64_t i = 0; i < gemm.m; ++i) {
            unsigned char* to = gemm.c + (index * gemm.c_stride + j * gemm.ldc + i) *
                                             static_cast<std::int64_t>(headscope::size_of(gemm.c_dtype));
            float value = gemm.alpha * column[static_cast<std::size_t>(i)];
            if (gemm.beta != 0.0F) {
                value += gemm.beta * headscope::load_as<float>(gemm.c_dtype, to);
            }
            headscope::store_as(gemm.c_dtype, to, value);
        }
    }
}

}  // namespace

headscope::cuda_emulation::BlasHandles& headscope::cuda_emulation::blas_handles() {
    static thread_local BlasHandles handles;
    return handles;
}

headscope::cuda_emulation::BlasProducts& headscope::cuda_emulation::blas_products() {
    static thread_local BlasProducts products;
    return products;
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
    *handle = new EmulatedCublas;
    ++headscope::cuda_emulation::blas_handles().live;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    --headscope::cuda_emulation::blas_handles().live;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t /*handle*/, void* /*workspace*/, std::size_t /*bytes*/) {
    return headscope::cuda_emulation::blas_handles().refuse_workspace ? CUBLAS_STATUS_INVALID_VALUE
                                                                      : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t /*handle*/, cublasMath_t /*mode*/) {
    return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "an error of the emulated cuBLAS";
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transpose_a,
                                          cublasOperation_t transpose_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType a_type, int lda, long long a_stride,
                                          const void* b, cudaDataType b_type, int ldb, long long b_stride,
                                          const void* beta, void* c, cudaDataType c_type, int ldc, long long c_stride,
                                          int count, cublasComputeType_t compute, cublasGemmAlgo_t /*algorithm*/) {
    headscope::cuda_emulation::BlasProducts& products = headscope::cuda_emulation::blas_products();
    ++products.asked;
    if (a_type != CUDA_R_32F && products.half != CUBLAS_STATUS_SUCCESS && products.half_before-- <= 0) {
        return products.half;
    }
    const int rows_a = transpose_a == CUBLAS_OP_N ? m : k;
    const int rows_b = transpose_b == CUBLAS_OP_N ? k : n;
    if (m < 0 || n < 0 || k < 0 || count < 0 || lda < std::max(1, rows_a) || ldb < std::max(1, rows_b) ||
        ldc < std::max(1, m)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    // The table of supported types in cuBLAS's documentation: A and B alike; C as they are, or F32.
    if (a_type != b_type || (c_type != a_type && c_type != CUDA_R_32F) ||
        (a_type != CUDA_R_32F && compute == CUBLAS_COMPUTE_32F_FAST_TF32)) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    cudaDeviceProp device{};
    cudaGetDeviceProperties(&device, 0);
    if (device.major < 8 && (a_type == CUDA_R_16BF || compute == CUBLAS_COMPUTE_32F_FAST_TF32)) {
        return CUBLAS_STATUS_ARCH_MISMATCH;
    }
    const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    const auto operand = [tf32](const void* data, cudaDataType type, int leading, long long stride,
                                cublasOperation_t transpose) {
        return Operand{
            static_cast<const unsigned char*>(data), dtype_of(type), leading, stride, transpose == CUBLAS_OP_T, tf32};
    };
    // As cuBLAS 13.0 does on an H200 with more terms.
    const bool drops_the_end = a_type != CUDA_R_32F && k > 8192 && std::min(m, n) == 1;
    const Gemm gemm{m,
                    n,
                    drops_the_end ? k / 64 * 64 : k,
                    *static_cast<const float*>(alpha),
                    *static_cast<const float*>(beta),
                    operand(a, a_type, lda, a_stride, transpose_a),
                    operand(b, b_type, ldb, b_stride, transpose_b),
                    static_cast<unsigned char*>(c),
                    dtype_of(c_type),
                    ldc,
                    c_stride};
    const cudaError_t error = headscope::cuda_emulation::enqueue(handle->stream, [gemm, count] {
        for (int index = 0; index < count; ++index) {
            multiply(gemm, index);
        }
        return cudaSuccess;
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
