#include "backends/cuda/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backend/backend.h"

namespace headscope::cuda {

bool is_sticky(cudaError_t error) {
    // By number, since toolkits differ in the names that they know: uncorrectable memory and NVLink errors, contained
    // errors of both, illegal address, launch timeout, destroyed context, device assertion, hardware stack error,
    // illegal instruction, misaligned address, invalid address space, invalid program counter, launch failure, tensor
    // memory that a kernel did not free, an MPS server that ended this client, wrong data from another device, and
    // unknown errors.
    constexpr std::array kSticky{214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999};
    return std::find(kSticky.begin(), kSticky.end(), static_cast<int>(error)) != kSticky.end();
}

std::string text_of(cudaError_t error) {
    return fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error));
}

void raise(cudaError_t error, const std::string& message) {
    cudaGetLastError();  // clears it: reported here, and nowhere else
    if (error == cudaErrorMemoryAllocation) {
        throw OutOfMemory(message);
    }
    throw Error(message);
}

void require(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        raise(error, fmt::format("CUDA could not {} ({})", what, text_of(error)));
    }
}

}  // namespace headscope::cuda
