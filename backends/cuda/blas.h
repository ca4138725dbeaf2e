// What products through cuBLAS and through cuBLASLt have in common.
#pragma once

#include <cublas_v2.h>

#include <cstdint>

#include "tensor/tensor.h"

namespace headscope::cuda {

// Error naming what was tried, unless `status` is success.
void require_blas(cublasStatus_t status, const char* what);

cudaDataType data_type(DType dtype);

// How far apart a matrix's rows are. cuBLAS asks for no less than they are long, also where there is one row and its
// stride is anything.
std::int64_t row_step(const Tensor& tensor);

}  // namespace headscope::cuda
