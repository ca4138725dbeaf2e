#include "backends/cuda/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/cuda/errors.h"
#include "support/check.h"

namespace headscope::cuda {

CudaBuffer::CudaBuffer(std::shared_ptr<Memory> memory, Place place, std::byte* data, std::size_t bytes)
    : memory_(std::move(memory)), place_(place), data_(data), bytes_(bytes) {}

CudaBuffer::~CudaBuffer() {
    memory_->give_back(place_, bytes_);
}

Memory::~Memory() {
    for (std::byte* block : blocks_) {
        cudaFree(block);
    }
}

std::shared_ptr<CudaBuffer> Memory::allocate(std::size_t bytes, const std::function<void()>& make_idle) {
    std::optional<Place> place = arena_.take(bytes);
    if (!place) {
        const std::uint64_t wanted = arena_.rounded(bytes);
        bool added = add_block(std::max(wanted, kBlockBytes));
        if (!added) {
            make_idle();
            drop_empty_blocks();
            added = add_block(wanted);
        }
        if (!added) {
            fail(bytes);
        }
        place = arena_.take(bytes);
    }
    HEADSCOPE_CHECK(place.has_value(), "a new block has no room for what it was made for");
    use_.live += bytes;
    use_.peak = std::max(use_.peak, use_.live);
    return std::make_shared<CudaBuffer>(shared_from_this(), *place, blocks_[place->block] + place->offset, bytes);
}

void Memory::give_back(const Place& place, std::size_t bytes) {
    arena_.give_back(place);
    use_.live -= bytes;
}

bool Memory::add_block(std::uint64_t bytes) {
    void* memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return false;
    }
    require(error, "get device memory");
    const std::uint32_t index = arena_.add_block(bytes);
    if (index == blocks_.size()) {
        blocks_.push_back(nullptr);
    }
    blocks_[index] = static_cast<std::byte*>(memory);
    return true;
}

void Memory::drop_empty_blocks() {
    for (const std::uint32_t index : arena_.empty_blocks()) {
        arena_.remove_block(index);
        cudaFree(std::exchange(blocks_[index], nullptr));
    }
}

void Memory::fail(std::size_t bytes) const {
    constexpr double kMiB = 1 << 20;
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    require(cudaMemGetInfo(&free_bytes, &total), "ask how much memory is free");
    throw Error(fmt::format(
        "out of memory on {}: asked for {:.1f} MiB, of {:.0f} MiB {:.1f} are free and {:.1f} in use here; use smaller "
        "batches (training.micro_batch_tokens halves them without changing the step) or a smaller model, or --device "
        "cpu",
        device_, static_cast<double>(bytes) / kMiB, static_cast<double>(total) / kMiB,
        static_cast<double>(free_bytes) / kMiB, static_cast<double>(use_.live) / kMiB));
}

}  // namespace headscope::cuda
