// Device memory: blocks from CUDA, divided by the arena. The stream runs in order, so a range given back may be handed
// out at once; the same sequence of sizes gives the same addresses.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/arena.h"
#include "backend/backend.h"

namespace headscope::cuda {

class Memory;

// What a Tensor of this backend holds.
class CudaBuffer final : public Buffer {
public:
    CudaBuffer(std::shared_ptr<Memory> memory, Place place, std::byte* data, std::size_t bytes);
    ~CudaBuffer() override;
    std::size_t bytes() const override { return bytes_; }
    std::byte* data() const { return data_; }

private:
    std::shared_ptr<Memory> memory_;
    Place place_;
    std::byte* data_;
    std::size_t bytes_;
};

class Memory : public std::enable_shared_from_this<Memory> {
public:
    explicit Memory(std::string device) : device_(std::move(device)), arena_(kAlignment) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    // Error when the device has no more. `make_idle` is called before blocks go back to CUDA.
    std::shared_ptr<CudaBuffer> allocate(std::size_t bytes, const std::function<void()>& make_idle);
    void give_back(const Place& place, std::size_t bytes);
    Backend::MemoryUse use() const { return use_; }

private:
    // Vector loads need 16; 512 is what CUDA's own allocations have.
    static constexpr std::uint64_t kAlignment = 512;
    static constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20U;

    bool add_block(std::uint64_t bytes);
    void drop_empty_blocks();
    [[noreturn]] void fail(std::size_t bytes) const;

    std::string device_;
    Arena arena_;
    std::vector<std::byte*> blocks_;
    Backend::MemoryUse use_;
};

}  // namespace headscope::cuda
