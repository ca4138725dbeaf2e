// The part of NCCL's C interface that is used. NCCL is opened when ranks need it, never linked. Its numbers are part of
// its ABI and never change.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

namespace headscope::cuda {

using NcclResult = int;
constexpr NcclResult kNcclSuccess = 0;
constexpr NcclResult kNcclInProgress = 7;
constexpr int kNcclBytes = 1;                    // as a type of elements
constexpr int kOldestNccl = 2 * 1000 + 7 * 100;  // 2.7.0, the first with ncclSend

struct NcclId {
    char bytes[128];
};
using NcclConnection = struct ncclComm*;

struct Nccl {
    NcclResult (*ncclGetVersion)(int*) = nullptr;
    NcclResult (*ncclGetUniqueId)(NcclId*) = nullptr;
    NcclResult (*ncclCommInitRank)(NcclConnection*, int size, NcclId, int rank) = nullptr;
    NcclResult (*ncclCommDestroy)(NcclConnection) = nullptr;
    NcclResult (*ncclCommAbort)(NcclConnection) = nullptr;
    NcclResult (*ncclCommGetAsyncError)(NcclConnection, NcclResult*) = nullptr;
    NcclResult (*ncclGroupStart)() = nullptr;
    NcclResult (*ncclGroupEnd)() = nullptr;
    NcclResult (*ncclSend)(const void*, std::size_t, int type, int peer, NcclConnection, cudaStream_t) = nullptr;
    NcclResult (*ncclRecv)(void*, std::size_t, int type, int peer, NcclConnection, cudaStream_t) = nullptr;
    const char* (*ncclGetErrorString)(NcclResult) = nullptr;
    const char* (*ncclGetLastError)(NcclConnection) = nullptr;  // null before 2.13
    int version = 0;                                            // 22809 is 2.28.9, 2708 is 2.7.8

    std::string version_text() const;
};

// `library` is a file or a name; it stays open. Error if there is none, or if it is too old.
Nccl open_nccl(const std::string& library);

}  // namespace headscope::cuda
