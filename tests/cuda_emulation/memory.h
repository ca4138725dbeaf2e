// What the parts of the emulated runtime know of each other.
#pragma once

#include <cstddef>
#include <string>

#include "cuda_runtime.h"

namespace headscope::cuda_emulation {

constexpr std::size_t kDevices = 4;
std::size_t& current_device();            // of this thread
cudaError_t remember(cudaError_t error);  // as cudaGetLastError will tell it
cudaError_t fatal_error();
bool is_pinned(const void* memory);
// Whether a stream is captured in a mode that allows no such call; then the capture is broken.
bool refuse_unsafe_in_capture();
bool captures();                                        // whether any stream is captured
void fault(cudaError_t error, const std::string& why);  // every call fails from there on
void drain_all();

}  // namespace headscope::cuda_emulation
