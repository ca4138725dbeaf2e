#include "backends/cuda/nccl.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "support/check.h"

namespace headscope::cuda {

namespace {

template <class Function>
void find(void* handle, const char* name, Function& function, std::string& missing) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr && missing.empty()) {
        missing = name;
    }
}

}  // namespace

std::string Nccl::version_text() const {
    const int major_unit = version < 10000 ? 1000 : 10000;  // the numbers changed with 2.9
    return fmt::format("{}.{}.{}", version / major_unit, version % major_unit / 100, version % 100);
}

Nccl open_nccl(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        throw Error(
            fmt::format("cannot open NCCL ({}): install it (Debian, Ubuntu: libnccl2 of NVIDIA's repository), or name "
                        "its libnccl.so.2 in HEADSCOPE_CUDA_NCCL",
                        dlerror()));
    }
    Nccl nccl;
    std::string missing;
#define HEADSCOPE_FIND(name) find(handle, #name, nccl.name, missing)
    HEADSCOPE_FIND(ncclGetVersion);
    HEADSCOPE_FIND(ncclGetUniqueId);
    HEADSCOPE_FIND(ncclCommInitRank);
    HEADSCOPE_FIND(ncclCommDestroy);
    HEADSCOPE_FIND(ncclCommAbort);
    HEADSCOPE_FIND(ncclCommGetAsyncError);
    HEADSCOPE_FIND(ncclGroupStart);
    HEADSCOPE_FIND(ncclGroupEnd);
    HEADSCOPE_FIND(ncclSend);
    HEADSCOPE_FIND(ncclRecv);
    HEADSCOPE_FIND(ncclGetErrorString);
    std::string optional;
    find(handle, "ncclGetLastError", nccl.ncclGetLastError, optional);
#undef HEADSCOPE_FIND
    if (nccl.ncclGetVersion != nullptr && nccl.ncclGetErrorString != nullptr) {
        if (const NcclResult result = nccl.ncclGetVersion(&nccl.version); result != kNcclSuccess) {
            throw Error(fmt::format("'{}' does not tell its version (ncclGetVersion: {}): install NCCL again", library,
                                    nccl.ncclGetErrorString(result)));
        }
    }
    if (!missing.empty() || nccl.version < kOldestNccl) {
        throw Error(
            fmt::format("'{}' is {}; expected NCCL 2.7 or newer{}: install it, or name another in "
                        "HEADSCOPE_CUDA_NCCL",
                        library, nccl.version == 0 ? "no NCCL" : "NCCL " + nccl.version_text(),
                        missing.empty() ? "" : ", which has " + missing));
    }
    return nccl;
}

}  // namespace headscope::cuda
