// Programmatic dependent launch (CUDA C++ Programming Guide): a kernel is launched while the one in front of it still
// runs, so that launching costs no time between them, and waits for it itself. Stream::launch() asks for it.
#pragma once

#include <cuda_runtime.h>

namespace headscope::cuda {

// The first statement of every kernel. Waits until the kernels in front are done and what they wrote can be read, then
// lets the next one be launched. Without effect where the launch did not ask for it, as on cards before sm_90.
__device__ __forceinline__ void after_previous() {
#if !defined(__CUDACC__)
    cudaGridDependencySynchronize();  // of the emulation
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace headscope::cuda
