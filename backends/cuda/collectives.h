// NCCL's sends and receives between the GPUs of ranks.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "backend/collectives.h"
#include "backends/cuda/nccl.h"
#include "backends/cuda/stream.h"

namespace headscope::cuda {

class NcclCollectives final : public Collectives {
public:
    // `library`: libnccl.so.2, another file, or "0" for none. The stream outlives it.
    NcclCollectives(Stream& stream, const cudaDeviceProp& properties, std::string library);
    ~NcclCollectives() override { disconnect(); }

    std::string name() override;
    std::string device() const override { return device_; }
    std::string invite() override;
    void connect(const std::string& invitation, int rank, int size) override;
    void exchange(std::span<const Part> sends, std::span<const Part> receives,
                  const std::function<void()>& while_waiting) override;

private:
    const Nccl& nccl();
    // Error that names the function, unless its result is success.
    void require(NcclResult result, const char* function);
    void enqueue(std::span<const Part> sends, std::span<const Part> receives);
    void wait(const std::function<void()>& while_waiting);
    void disconnect();

    Stream& stream_;
    std::string device_;
    std::string library_;
    std::optional<Nccl> nccl_;
    NcclConnection connection_ = nullptr;
    bool in_doubt_ = false;  // an exchange has not ended well, and its kernel may wait for ever
};

}  // namespace headscope::cuda
