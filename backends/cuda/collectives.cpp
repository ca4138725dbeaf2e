#include "backends/cuda/collectives.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "backends/cuda/cuda_backend.h"
#include "support/check.h"

namespace headscope::cuda {

namespace {

std::size_t bytes_of(const Tensor& tensor) {
    HEADSCOPE_CHECK(tensor.contiguous(), "only contiguous memory is exchanged");
    return static_cast<std::size_t>(tensor.elements()) * size_of(tensor.dtype);
}

}  // namespace

NcclCollectives::NcclCollectives(Stream& stream, const cudaDeviceProp& properties, std::string library)
    : stream_(stream),
      device_(properties.uuid.bytes, sizeof properties.uuid.bytes),
      library_(library.empty() ? "libnccl.so.2" : std::move(library)) {}

const Nccl& NcclCollectives::nccl() {
    if (library_ == "0") {
        throw Error("HEADSCOPE_CUDA_NCCL=0 switches NCCL off");
    }
    if (!nccl_) {
        nccl_ = open_nccl(library_);
    }
    return *nccl_;
}

void NcclCollectives::require(NcclResult result, const char* function) {
    if (result == kNcclSuccess) {
        return;
    }
    const char* last = nccl().ncclGetLastError == nullptr ? nullptr : nccl().ncclGetLastError(connection_);
    const std::string more = last == nullptr || *last == '\0' ? "" : fmt::format("; {}", last);
    throw Error(
        fmt::format("NCCL failed: {} says {} ({}){}. NCCL_DEBUG=INFO shows what it does; NCCL_SOCKET_IFNAME names the "
                    "network interface, such as eth0, if it takes a wrong one; HEADSCOPE_CUDA_NCCL=0 goes without it",
                    function, result, nccl().ncclGetErrorString(result), more));
}

std::string NcclCollectives::name() {
    return "NCCL " + nccl().version_text();
}

std::string NcclCollectives::invite() {
    NcclId id{};
    require(nccl().ncclGetUniqueId(&id), "ncclGetUniqueId");
    return {id.bytes, sizeof id.bytes};
}

void NcclCollectives::connect(const std::string& invitation, int rank, int size) {
    disconnect();
    NcclId id{};
    HEADSCOPE_CHECK(invitation.size() == sizeof id.bytes, "an invitation is NCCL's");
    std::memcpy(id.bytes, invitation.data(), sizeof id.bytes);
    stream_.use_device();
    const NcclResult result = nccl().ncclCommInitRank(&connection_, size, id, rank);
    if (result != kNcclSuccess) {
        connection_ = nullptr;
    }
    require(result, "ncclCommInitRank");
}

void NcclCollectives::disconnect() {
    if (connection_ != nullptr) {
        stream_.use_device();
        // Nothing depends on what they say.
        in_doubt_ ? nccl_->ncclCommAbort(connection_) : nccl_->ncclCommDestroy(connection_);
        connection_ = nullptr;
        in_doubt_ = false;
    }
}

void NcclCollectives::exchange(std::span<const Part> sends, std::span<const Part> receives,
                               const std::function<void()>& while_waiting) {
    HEADSCOPE_CHECK(connection_ != nullptr && !in_doubt_, "only ranks that are connected exchange memory");
    in_doubt_ = true;
    enqueue(sends, receives);
    wait(while_waiting);
    in_doubt_ = false;
}

void NcclCollectives::enqueue(std::span<const Part> sends, std::span<const Part> receives) {
    stream_.use_device();
    require(nccl_->ncclGroupStart(), "ncclGroupStart");
    try {
        for (const Part& part : sends) {
            require(nccl_->ncclSend(data_of<void>(part.tensor), bytes_of(part.tensor), kNcclBytes, part.rank,
                                    connection_, stream_.handle()),
                    "ncclSend");
        }
        for (const Part& part : receives) {
            require(nccl_->ncclRecv(data_of<void>(part.tensor), bytes_of(part.tensor), kNcclBytes, part.rank,
                                    connection_, stream_.handle()),
                    "ncclRecv");
        }
    } catch (...) {
        nccl_->ncclGroupEnd();  // drops the group
        throw;
    }
    require(nccl_->ncclGroupEnd(), "ncclGroupEnd");
}

// CUDA itself would wait for ever for a rank that is gone.
void NcclCollectives::wait(const std::function<void()>& while_waiting) {
    constexpr std::chrono::microseconds kPause(20);
    for (bool done = false; !done;) {
        const cudaError_t state = cudaStreamQuery(stream_.handle());
        done = state != cudaErrorNotReady;
        NcclResult asynchronous = kNcclSuccess;
        const NcclResult asked = nccl_->ncclCommGetAsyncError(connection_, &asynchronous);
        while_waiting();
        require(asked, "ncclCommGetAsyncError");
        if (asynchronous != kNcclInProgress) {
            require(asynchronous, "ncclSend or ncclRecv, after it was enqueued,");
        }
        if (done) {
            stream_.enqueued("exchange", state);
        } else {
            cudaGetLastError();  // clears an answer that is not an error
            std::this_thread::sleep_for(kPause);
        }
    }
}

}  // namespace headscope::cuda
