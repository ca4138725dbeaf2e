#include "backends/cuda/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/cuda/errors.h"
#include "support/check.h"

namespace headscope::cuda {

CudaBuffer::CudaBuffer(std::shared_ptr<Memory> memory, Pool pool, ArenaPlace place, std::byte* data, std::size_t bytes)
    : memory_(std::move(memory)), pool_(pool), place_(place), data_(data), bytes_(bytes) {}

CudaBuffer::~CudaBuffer() {
    memory_->give_back(pool_, place_, bytes_);
}

Memory::~Memory() {
    for (const Space& space : spaces_) {
        for (std::byte* block : space.blocks) {
            cudaFree(block);
        }
    }
}

std::shared_ptr<CudaBuffer> Memory::allocate(std::size_t bytes) {
    Space& space = spaces_[static_cast<std::size_t>(pool_)];
    std::optional<ArenaPlace> place = space.arena.take(bytes);
    if (!place) {
        const std::uint64_t wanted = space.arena.rounded(bytes);
        bool added = add_block(space, std::max(wanted, kBlockBytes));
        added = added || add_block(space, wanted);
        if (!added) {
            free_blocks();
            added = add_block(space, wanted);
        }
        if (!added) {
            fail(bytes);
        }
        place = space.arena.take(bytes);
    }
    HEADSCOPE_CHECK(place.has_value(), "a new block has no room for what it was made for");
    space.live += bytes;
    use_.live += bytes;
    use_.peak = std::max(use_.peak, use_.live);
    return std::make_shared<CudaBuffer>(shared_from_this(), pool_, *place, space.blocks[place->block] + place->offset,
                                        bytes);
}

void Memory::give_back(Pool pool, const ArenaPlace& place, std::size_t bytes) {
    Space& space = spaces_[static_cast<std::size_t>(pool)];
    space.arena.give_back(place);
    space.live -= bytes;
    use_.live -= bytes;
}

void Memory::free_blocks() {
    if (!make_room || !make_room()) {
        return;
    }
    for (Space& space : spaces_) {
        for (const std::uint32_t index : space.arena.empty_blocks()) {
            space.arena.remove_block(index);
            cudaFree(std::exchange(space.blocks[index], nullptr));
        }
    }
}

bool Memory::add_block(Space& space, std::uint64_t bytes) const {
    constexpr std::size_t kReserve = std::size_t{256} << 20U;
    constexpr std::size_t kLeastShare = 16;  // of a small card less is reserved
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    require(cudaMemGetInfo(&free_bytes, &total), "ask how much memory is free");
    if (!of_host_ && free_bytes < bytes + std::min(kReserve, total / kLeastShare)) {
        return false;
    }
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return false;
    }
    require(error, "get device memory");
    const std::uint32_t index = space.arena.add_block(bytes);
    if (index == space.blocks.size()) {
        space.blocks.push_back(nullptr);
    }
    space.blocks[index] = static_cast<std::byte*>(memory);
    return true;
}

void Memory::fail(std::size_t bytes) const {
    constexpr double kMiB = 1 << 20;
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    require(cudaMemGetInfo(&free_bytes, &total), "ask how much memory is free");
    throw OutOfMemory(fmt::format(
        "out of memory on {}: asked for {:.1f} MiB, of {:.0f} MiB {:.1f} are free and {:.1f} in use here; use smaller "
        "batches (training.micro_batch_tokens halves them without changing the step) or a smaller model, or --device "
        "cpu",
        device_, static_cast<double>(bytes) / kMiB, static_cast<double>(total) / kMiB,
        static_cast<double>(free_bytes) / kMiB, static_cast<double>(use_.live) / kMiB));
}

}  // namespace headscope::cuda
