// cuBLASLt on the CPU: what its documentation says of the calls that the backend makes, and no more than it promises.
//  - a sum over k is split in two wherever the preference allows it, the parts kept in the least precise type allowed;
//    of a long one what k has over a multiple of 64 is dropped, as was reported of 12.8.5 and 13.1.1
//  - an algorithm needs the workspace and every alignment that it was told of, and multiplies the matrices that it was
//    chosen for and no others; a bias is loaded 16 bytes at a time, which of another address is a fault
//  - while a stream is captured no algorithm is chosen, as of CUDA 13.3
//  - ReLU is max(x, 0), of which a NaN does not come out
#include "cublasLt.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator.h"
#include "lt_call.h"
#include "memory.h"

namespace emulation = headscope::cuda_emulation;

struct EmulatedLt {};
struct EmulatedLtOperation {
    cublasComputeType_t compute;
    cudaDataType scale_type;
    std::int32_t transpose_a = CUBLAS_OP_N;
    std::int32_t transpose_b = CUBLAS_OP_N;
    std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;
};
struct EmulatedLtLayout {
    cudaDataType type;
    std::int64_t rows, columns, leading;
};
struct EmulatedLtPreference {
    std::uint64_t workspace_bytes = 0;
    std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
    std::array<std::uint32_t, 4> alignments{256, 256, 256, 256};  // of A, B, C and D
};

namespace {

using headscope::size_of;
using headscope::cuda_emulation::dtype_of;
using headscope::cuda_emulation::Operand;

struct Problem {
    const EmulatedLtOperation* operation;
    const EmulatedLtLayout *a, *b, *c, *d;

    std::int64_t m() const { return d->rows; }
    std::int64_t n() const { return d->columns; }
    std::int64_t k() const { return operation->transpose_a == CUBLAS_OP_N ? a->columns : a->rows; }
    bool adds_bias() const { return (operation->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }
};

// What fits into a cublasLtMatmulAlgo_t.
struct Algorithm {
    std::uint64_t problem;  // a hash of all that it was chosen for
    std::uint64_t workspace_bytes;
    std::uint32_t reduction;
    std::array<std::uint32_t, 5> alignments;  // of A, B, C, D and the bias
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

std::uint64_t hash_of(const Problem& problem) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto add = [&hash](std::int64_t value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001b3U;
    };
    for (const EmulatedLtLayout* layout : {problem.a, problem.b, problem.c, problem.d}) {
        add(layout->type);
        add(layout->rows);
        add(layout->columns);
        add(layout->leading);
    }
    add(problem.operation->compute);
    add(problem.operation->transpose_a);
    add(problem.operation->transpose_b);
    add(problem.operation->epilogue);
    return hash;
}

std::uint32_t alignment_of(const void* address) {
    const auto number = reinterpret_cast<std::uintptr_t>(address) | 256U;
    return static_cast<std::uint32_t>(number & (~number + 1));
}

cublasStatus_t check(const Problem& problem) {
    const EmulatedLtOperation& operation = *problem.operation;
    for (const EmulatedLtLayout* layout : {problem.a, problem.b, problem.c, problem.d}) {
        if (layout->rows < 1 || layout->columns < 1 || layout->leading < layout->rows) {
            return CUBLAS_STATUS_INVALID_VALUE;
        }
    }
    const bool a_transposed = operation.transpose_a == CUBLAS_OP_T;
    const bool b_transposed = operation.transpose_b == CUBLAS_OP_T;
    if ((a_transposed ? problem.a->columns : problem.a->rows) != problem.m() ||
        (b_transposed ? problem.b->columns : problem.b->rows) != problem.k() ||
        (b_transposed ? problem.b->rows : problem.b->columns) != problem.n() || problem.c->rows != problem.m() ||
        problem.c->columns != problem.n() || (problem.adds_bias() && operation.bias == nullptr)) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    // The documentation's table of types for sums in F32: A and B alike; C and D as they are, or F32.
    const cudaDataType type = problem.a->type;
    const bool tf32 = operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (operation.scale_type != CUDA_R_32F || problem.b->type != type || problem.c->type != problem.d->type ||
        (problem.d->type != type && problem.d->type != CUDA_R_32F) || (tf32 && type != CUDA_R_32F)) {
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    cudaDeviceProp device{};
    cudaGetDeviceProperties(&device, 0);
    return device.major < 8 && (type == CUDA_R_16BF || tf32) ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

template <class Value>
cublasStatus_t take(Value& to, const void* value, std::size_t bytes) {
    if (value == nullptr || bytes != sizeof to) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    std::memcpy(&to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

Operand operand_of(const void* data, const EmulatedLtLayout& layout, std::int32_t transpose,
                   cublasComputeType_t compute) {
    return {static_cast<const unsigned char*>(data), dtype_of(layout.type), layout.leading, 0, transpose == CUBLAS_OP_T,
            compute == CUBLAS_COMPUTE_32F_FAST_TF32};
}

}  // namespace

emulation::LtHeuristics& emulation::lt_heuristics() {
    static thread_local LtHeuristics heuristics;
    return heuristics;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    if (emulation::refuse_unsafe_in_capture()) {  // it allocates
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    if (emulation::blas_handles().refuse_lt) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    *handle = new EmulatedLt;
    ++emulation::blas_handles().live;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    --emulation::blas_handles().live;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t compute,
                                        cudaDataType scale_type) {
    *operation = new EmulatedLtOperation{.compute = compute, .scale_type = scale_type};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
    delete operation;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
    switch (attribute) {
        case CUBLASLT_MATMUL_DESC_TRANSA: return take(operation->transpose_a, value, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSB: return take(operation->transpose_b, value, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE: return take(operation->epilogue, value, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(operation->bias, value, bytes);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
    *layout = new EmulatedLtLayout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    *preference = new EmulatedLtPreference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
    switch (attribute) {
        case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return take(preference->workspace_bytes, value, bytes);
        case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return take(preference->reductions, value, bytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return take(preference->alignments[0], value, bytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return take(preference->alignments[1], value, bytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return take(preference->alignments[2], value, bytes);
        case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return take(preference->alignments[3], value, bytes);
    }
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t* results, int* returned) {
    ++emulation::lt_heuristics().asked;
    *returned = 0;
    const Problem problem{operation, a, b, c, d};
    if (const cublasStatus_t status = requested < 1 ? CUBLAS_STATUS_INVALID_VALUE : check(problem);
        status != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    if (emulation::captures()) {
        return CUBLAS_STATUS_INTERNAL_ERROR;
    }
    if (emulation::lt_heuristics().answer != CUBLAS_STATUS_SUCCESS) {
        return emulation::lt_heuristics().answer;
    }
    Algorithm algorithm{.problem = hash_of(problem), .workspace_bytes = 0, .reduction = 0, .alignments = {}};
    for (const auto& [reduction, type] : {std::pair{CUBLASLT_REDUCTION_SCHEME_INPLACE, d->type},
                                          {CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE, d->type},
                                          {CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, CUDA_R_32F}}) {
        const auto bytes = static_cast<std::uint64_t>(2 * problem.m() * problem.n()) * size_of(dtype_of(type));
        if (algorithm.reduction == CUBLASLT_REDUCTION_SCHEME_NONE && (preference->reductions & reduction) != 0 &&
            bytes <= preference->workspace_bytes && problem.k() > 1) {
            algorithm.reduction = reduction;
            algorithm.workspace_bytes = bytes;
        }
    }
    std::copy(preference->alignments.begin(), preference->alignments.end(), algorithm.alignments.begin());
    algorithm.alignments[4] = problem.adds_bias() ? alignment_of(operation->bias) : 1;
    constexpr int kMost = 4;
    for (; *returned < std::min(requested, kMost); ++*returned) {
        cublasLtMatmulHeuristicResult_t& result = results[*returned] = {};
        result.state = CUBLAS_STATUS_NOT_SUPPORTED;
        if (*returned >= emulation::lt_heuristics().useless) {
            std::memcpy(&result.algo, &algorithm, sizeof algorithm);
            result.workspaceSize = algorithm.workspace_bytes;
            result.state = CUBLAS_STATUS_SUCCESS;
        }
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* chosen, void* workspace, std::size_t workspace_bytes,
                              cudaStream_t stream) {
    const Problem problem{operation, a_layout, b_layout, c_layout, d_layout};
    if (const cublasStatus_t status = check(problem); status != CUBLAS_STATUS_SUCCESS) {
        return status;
    }
    if (emulation::lt_heuristics().call != CUBLAS_STATUS_SUCCESS) {
        return emulation::lt_heuristics().call;
    }
    Algorithm algorithm{};
    std::memcpy(&algorithm, chosen, sizeof algorithm);
    if (algorithm.problem != hash_of(problem) || workspace_bytes < algorithm.workspace_bytes ||
        alignment_of(workspace) < 256) {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    const std::array<const void*, 5> addresses{a, b, c, d, operation->bias};
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        if (addresses[i] != nullptr && alignment_of(addresses[i]) < algorithm.alignments[i]) {
            return CUBLAS_STATUS_INVALID_VALUE;
        }
    }
    const emulation::LtCall call{
        .m = problem.m(),
        .n = problem.n(),
        .k = problem.k(),
        .alpha = *static_cast<const float*>(alpha),
        .beta = *static_cast<const float*>(beta),
        .a = operand_of(a, *a_layout, operation->transpose_a, operation->compute),
        .b = operand_of(b, *b_layout, operation->transpose_b, operation->compute),
        .c = static_cast<const unsigned char*>(c),
        .d = static_cast<unsigned char*>(d),
        .dtype = dtype_of(d_layout->type),
        .ldc = c_layout->leading,
        .ldd = d_layout->leading,
        .bias = problem.adds_bias() ? static_cast<const unsigned char*>(operation->bias) : nullptr,
        .relu = (operation->epilogue & CUBLASLT_EPILOGUE_RELU) != 0,
        .reduction = algorithm.reduction,
        .workspace = static_cast<unsigned char*>(workspace),
    };
    const cudaError_t error = emulation::enqueue(stream, [call] {
        if (call.bias != nullptr && alignment_of(call.bias) < 16) {
            emulation::fault(cudaErrorMisalignedAddress, "cuBLASLt loads a bias that is not aligned to 16 bytes");
            return emulation::fatal_error();
        }
        emulation::multiply(call);
        return cudaSuccess;
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
