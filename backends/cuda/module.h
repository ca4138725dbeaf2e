// The interface between the program and a CUDA module, libheadscope_cuda12.so or libheadscope_cuda13.so: the same
// backend, built with different toolkits. The program opens one at run time and needs no toolkit itself.
#pragma once

#include "backend/backend.h"
#include "backend/open_options.h"

namespace headscope::cuda {

// Every module exports a function of this name and type. Its result lives as long as the module.
struct Module {
    // Compared before anything else is read: program and module share C++ classes and must agree on them.
    const char* contract;      // HEADSCOPE_CUDA_CONTRACT of the build
    int toolkit;               // CUDART_VERSION: 12040 is CUDA 12.4
    const int* architectures;  // sm numbers with machine code, ascending, ended by 0: 60, 70, .., 90
    int ptx;                   // the newest compute_XX included as PTX, 0 for none
    bool emulated;             // for tests: kernels run on the CPU

    // Opens the device with this ordinal. Error if it cannot be opened. The caller owns the backend.
    Backend* (*open)(int ordinal, const OpenOptions& options);
};

using ModuleEntry = const Module* (*)();
constexpr const char* kModuleEntry = "headscope_cuda_module";

}  // namespace headscope::cuda
