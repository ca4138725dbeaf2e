// A backend with linear layers, and a cuBLASLt that can reject them, for tests of products with an epilogue.
#pragma once

#include <array>
#include <memory>

#include "backend/ops/matmul.h"
#include "backends/cuda/cuda_backend.h"
#include "emulator.h"
#include "tests/house/open_options.h"

namespace headscope::cuda_tests {

using namespace headscope::cuda;
using cuda_emulation::lt_heuristics;

// Without the kernels for few rows, which need no cuBLASLt.
struct Machine {
    Warnings warnings = {};
    std::unique_ptr<CudaBackend> backend = std::make_unique<CudaBackend>(
        0, CudaOptions{.disabled = without_few_rows(), .diagnostics = warnings.diagnostics()});

    Tensor make(const Shape& shape, DType dtype = DType::F32, double value = 1.0) const {
        const std::vector<double> values(static_cast<std::size_t>(shape.elements()), value);
        return make_from_host(*backend, shape, dtype, values);
    }
    Linear layer(std::int64_t rows, DType dtype = DType::F32) const {
        return {.x = make({rows, 8}, dtype),
                .weight = make({4, 8}, dtype),
                .bias = make({4}, DType::F32, -3.0),
                .y = make({rows, 4}, dtype),
                .activation = Activation::Relu};
    }
    // How often cuBLASLt is asked for an algorithm while `op` runs.
    int questions(const Linear& op) const {
        const int before = lt_heuristics().asked;
        backend->run(op);
        return lt_heuristics().asked - before;
    }
    double first(const Tensor& tensor) const { return to_host<double>(*backend, tensor)[0]; }

private:
    static DisabledKernels without_few_rows() {
        Settings settings;
        settings.set(kDisableKernels, "few_rows,few_rows_f32");
        return DisabledKernels::from(settings);
    }
};

// While it lives cuBLASLt has no algorithm for anything,
struct NoAlgorithms {
    explicit NoAlgorithms(cublasStatus_t answer = CUBLAS_STATUS_NOT_SUPPORTED) { lt_heuristics().answer = answer; }
    NoAlgorithms(const NoAlgorithms&) = delete;
    NoAlgorithms& operator=(const NoAlgorithms&) = delete;
    ~NoAlgorithms() { lt_heuristics().answer = CUBLAS_STATUS_SUCCESS; }
};

// or rejects all of its algorithms.
struct NoCalls {
    explicit NoCalls(cublasStatus_t answer) { lt_heuristics().call = answer; }
    NoCalls(const NoCalls&) = delete;
    NoCalls& operator=(const NoCalls&) = delete;
    ~NoCalls() { lt_heuristics().call = CUBLAS_STATUS_SUCCESS; }
};

inline constexpr std::array kRefusals{CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_INVALID_VALUE,
                                      CUBLAS_STATUS_ARCH_MISMATCH};

}  // namespace headscope::cuda_tests
