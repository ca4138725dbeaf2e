// A CUDA module that has no kernels, as tests/CMakeLists.txt wants it:
//   FAKE_TOOLKIT        Module::toolkit
//   FAKE_ARCHITECTURES  Module::architectures, without the 0
//   FAKE_PTX            Module::ptx
//   FAKE_EMULATED       Module::emulated
//   FAKE_CONTRACT       Module::contract
// It opens ordinal 0 as a backend that runs nothing, and throws on others.
#include <string>
#include <vector>

#include "backends/cuda/module.h"
#include "support/check.h"
#include "tests/backend/recording_backend.h"

namespace {

headscope::Backend* open(int ordinal, const headscope::OpenOptions& /*options*/) {
    if (ordinal != 0) {
        throw headscope::Error("the fake module was asked for ordinal " + std::to_string(ordinal));
    }
    static std::vector<std::string> ran;
    return new headscope::RecordingBackend(ran);
}

}  // namespace

extern "C" const headscope::cuda::Module* headscope_cuda_module() {
    static constexpr int kArchitectures[] = {FAKE_ARCHITECTURES, 0};
    static constexpr headscope::cuda::Module kModule{FAKE_CONTRACT, FAKE_TOOLKIT,  kArchitectures,
                                                     FAKE_PTX,      FAKE_EMULATED, open};
    return &kModule;
}
