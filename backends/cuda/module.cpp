// The only function that a module exports.
#include "backends/cuda/module.h"

#include <cuda_runtime.h>

#include "backends/cuda/cuda_backend.h"

namespace headscope::cuda {

namespace {

constexpr int kArchitectures[] = {HEADSCOPE_CUDA_ARCHITECTURES};  // ends with 0

Backend* open(int ordinal, const OpenOptions& open_options) {
    CudaOptions options = CudaOptions::from(open_options);
    options.emulated = HEADSCOPE_CUDA_EMULATED;
    return new CudaBackend(ordinal, options);
}

constexpr Module kModule{.contract = HEADSCOPE_CUDA_CONTRACT,
                         .toolkit = CUDART_VERSION,
                         .architectures = kArchitectures,
                         .ptx = HEADSCOPE_CUDA_PTX,
                         .emulated = HEADSCOPE_CUDA_EMULATED,
                         .open = open};

}  // namespace

}  // namespace headscope::cuda

extern "C" __attribute__((visibility("default"))) const headscope::cuda::Module* headscope_cuda_module() {
    return &headscope::cuda::kModule;
}
