// CUDA's error codes as Errors.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace headscope::cuda {

// After such an error the device's context is lost: every later call fails too.
bool is_sticky(cudaError_t error);

// OutOfMemory for that error, which CUDA also returns for launches and graphs; else Error.
[[noreturn]] void raise(cudaError_t error, const std::string& message);

// raise() naming what was tried, unless `error` is success.
void require(cudaError_t error, const char* what);

// "cudaErrorMemoryAllocation: out of memory"
std::string text_of(cudaError_t error);

}  // namespace headscope::cuda
