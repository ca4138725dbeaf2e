// Device memory: blocks from CUDA, divided by arenas. The stream runs in order, so freed ranges can be reused at once;
// the same sequence of sizes gives the same addresses. Allocations of a graph's ops use a separate pool, since the
// graph writes there each time it is launched.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/arena.h"
#include "backend/backend.h"

namespace headscope::cuda {

class Memory;

// The buffer of a Tensor of this backend.
class CudaBuffer final : public Buffer {
public:
    CudaBuffer(std::shared_ptr<Memory> memory, Pool pool, ArenaPlace place, std::byte* data, std::size_t bytes);
    ~CudaBuffer() override;
    std::size_t bytes() const override { return bytes_; }
    Address address() const override { return {0, reinterpret_cast<std::uintptr_t>(data_)}; }
    std::byte* data() const { return data_; }

private:
    std::shared_ptr<Memory> memory_;
    Pool pool_;
    ArenaPlace place_;
    std::byte* data_;
    std::size_t bytes_;
};

class Memory : public std::enable_shared_from_this<Memory> {
public:
    // `of_host`: the device shares the host's memory.
    explicit Memory(std::string device, bool of_host = false) : device_(std::move(device)), of_host_(of_host) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();

    // Called when memory runs out, before blocks are returned to CUDA: waits for the device and drops graphs if
    // possible; true if it did.
    std::function<bool()> make_room;

    // OutOfMemory if the device has no more.
    std::shared_ptr<CudaBuffer> allocate(std::size_t bytes);
    void give_back(Pool pool, const ArenaPlace& place, std::size_t bytes);
    // Calls make_room, then returns empty blocks of both pools to CUDA.
    void free_blocks();
    // The pool of later calls of allocate().
    void use(Pool pool) { pool_ = pool; }
    Pool pool() const { return pool_; }
    Backend::MemoryUse use() const { return use_; }
    std::size_t live(Pool pool) const { return spaces_[static_cast<std::size_t>(pool)].live; }

private:
    // Vector loads need 16; CUDA's own allocations have 512.
    static constexpr std::uint64_t kAlignment = 512;
    static constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20U;
    struct Space {
        Arena arena{kAlignment};
        std::vector<std::byte*> blocks;
        std::size_t live = 0;
    };

    // False if that would leave CUDA too little for kernel code, cuBLAS and graphs. On devices that share host memory
    // CUDA may not count memory as free that the host would release on demand (file pages), so there it only shows by
    // trying.
    bool add_block(Space& space, std::uint64_t bytes) const;
    [[noreturn]] void fail(std::size_t bytes) const;

    std::string device_;
    bool of_host_;
    Pool pool_ = Pool::Ops;
    std::array<Space, 2> spaces_;
    Backend::MemoryUse use_;
};

}  // namespace headscope::cuda
