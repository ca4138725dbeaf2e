// Device memory: blocks from CUDA, divided by arenas. The stream runs in order, so a range given back may be handed out
// at once; the same sequence of sizes gives the same addresses. What a graph's ops allocate comes from a pool of its
// own, since the graph writes there whenever it is launched again.
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

// What a Tensor of this backend holds.
class CudaBuffer final : public Buffer {
public:
    CudaBuffer(std::shared_ptr<Memory> memory, Pool pool, Place place, std::byte* data, std::size_t bytes);
    ~CudaBuffer() override;
    std::size_t bytes() const override { return bytes_; }
    std::byte* data() const { return data_; }

private:
    std::shared_ptr<Memory> memory_;
    Pool pool_;
    Place place_;
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

    // Called when there is too little, before blocks go back to CUDA: waits for the device, and lets go of the graphs,
    // where that is possible; true if it did.
    std::function<bool()> make_room;

    // OutOfMemory when the device has no more.
    std::shared_ptr<CudaBuffer> allocate(std::size_t bytes);
    void give_back(Pool pool, const Place& place, std::size_t bytes);
    // Makes room; then empty blocks of both pools go back to CUDA.
    void free_blocks();
    // Where allocate() looks from here on.
    void use(Pool pool) { pool_ = pool; }
    Pool pool() const { return pool_; }
    Backend::MemoryUse use() const { return use_; }
    std::size_t live(Pool pool) const { return spaces_[static_cast<std::size_t>(pool)].live; }

private:
    // Vector loads need 16; 512 is what CUDA's own allocations have.
    static constexpr std::uint64_t kAlignment = 512;
    static constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 20U;
    struct Space {
        Arena arena{kAlignment};
        std::vector<std::byte*> blocks;
        std::size_t live = 0;
    };

    // False where that would leave CUDA too little for itself: kernels' code, cuBLAS and graphs take memory, too. Of
    // the host's memory CUDA need not count as free what the host gives back when asked, the pages of files; there only
    // asking tells.
    bool add_block(Space& space, std::uint64_t bytes) const;
    [[noreturn]] void fail(std::size_t bytes) const;

    std::string device_;
    bool of_host_;
    Pool pool_ = Pool::Ops;
    std::array<Space, 2> spaces_;
    Backend::MemoryUse use_;
};

}  // namespace headscope::cuda
