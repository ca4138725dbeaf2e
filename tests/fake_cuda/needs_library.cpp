// A module that needs a library which is missing when it is loaded (tests/CMakeLists.txt).
#include "backends/cuda/module.h"

extern "C" void headscope_missing_library();

extern "C" const headscope::cuda::Module* headscope_cuda_module() {
    headscope_missing_library();
    return nullptr;
}
