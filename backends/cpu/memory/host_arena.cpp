#include "backends/cpu/memory/host_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "backend/backend.h"

namespace headscope {

namespace {

constexpr std::size_t kAlignment = 64;         // a cache line, and the widest vector
constexpr std::size_t kHugePage = 2UL << 20U;  // large blocks are aligned to it, for transparent huge pages
constexpr std::size_t kSmallestBlock = 256;
// Above, blocks are the weights of large models, which products read from one end to the other: huge pages gain
// nothing, and in virtual machines the system needs several times longer to clear them.
constexpr std::size_t kMostHuge = std::size_t{1} << 29U;
constexpr std::size_t kStepsPerDoubling = 8;  // wastes at most an eighth of a block

// `bytes` rounded up to one of eight sizes for each power of two.
std::size_t size_class(std::size_t bytes) {
    if (bytes <= kSmallestBlock) {
        return kSmallestBlock;
    }
    const std::size_t step = std::max(std::bit_floor(bytes - 1) / kStepsPerDoubling, kAlignment);
    return (bytes + step - 1) / step * step;
}

std::string megabytes(std::size_t bytes) {
    return std::to_string((bytes + (1U << 19U)) >> 20U) + " MiB";
}

std::byte* system_allocate(std::size_t bytes) {
    const bool large = bytes >= 2 * kHugePage && bytes < kMostHuge;
    void* memory = nullptr;
    if (posix_memalign(&memory, large ? kHugePage : kAlignment, bytes) != 0) {
        return nullptr;
    }
    if (large) {
        madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // only a hint
    }
    return static_cast<std::byte*>(memory);
}

}  // namespace

struct HostArena::State {
    // By size; the block freed last is reused first, since it may still be in the cache.
    std::map<std::size_t, std::vector<std::byte*>> kept;
    Backend::MemoryUse use;
    std::size_t reserved = 0;
    // One thread allocates and frees. Another one frees what it has borrowed last.
    std::atomic<std::thread::id> owner;
    std::mutex mutex;
    std::vector<std::pair<std::byte*, std::size_t>> returned;  // by other threads
    std::atomic<bool> any_returned = false;

    ~State() {
        take_returned();
        shrink_to(0);
    }

    void keep(std::byte* block, std::size_t size) {
        use.live -= size;
        kept[size].push_back(block);
    }

    void free(std::byte* block, std::size_t size) {
        if (owner.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
            keep(block, size);
            return;
        }
        const std::lock_guard lock(mutex);
        returned.emplace_back(block, size);
        any_returned.store(true, std::memory_order_relaxed);
    }

    void take_returned() {
        if (any_returned.load(std::memory_order_relaxed)) {
            const std::lock_guard lock(mutex);
            for (const auto& [block, size] : returned) {
                keep(block, size);
            }
            returned.clear();
            any_returned.store(false, std::memory_order_relaxed);
        }
    }

    // Returns kept blocks to the system, the largest first, until at most `most` bytes are reserved.
    void shrink_to(std::size_t most) {
        while (reserved > most && !kept.empty()) {
            const auto largest = std::prev(kept.end());
            std::free(largest->second.back());
            reserved -= largest->first;
            largest->second.pop_back();
            if (largest->second.empty()) {
                kept.erase(largest);
            }
        }
    }

    // A kept block of `size` up to half as much again; 0 bytes if there is none.
    std::pair<std::byte*, std::size_t> take_kept(std::size_t size) {
        const auto found = kept.lower_bound(size);
        if (found == kept.end() || found->first > size + size / 2) {
            return {nullptr, 0};
        }
        std::byte* block = found->second.back();
        const std::size_t found_size = found->first;
        found->second.pop_back();
        if (found->second.empty()) {
            kept.erase(found);
        }
        return {block, found_size};
    }

    std::byte* take_new(std::size_t size) {
        // Batches whose shapes never repeat must not pile up unusable blocks: less is kept than is needed.
        const std::size_t needed = std::max(use.peak, use.live + size);
        shrink_to(2 * needed - size);
        std::byte* block = system_allocate(size);
        if (block == nullptr) {
            shrink_to(0);
            block = system_allocate(size);
        }
        if (block == nullptr) {
            throw OutOfMemory("out of memory: " + megabytes(size) + " more were asked for while " +
                              megabytes(use.live) + " are in use; take smaller batches or a smaller model");
        }
        reserved += size;
        return block;
    }
};

HostArena::HostArena() : state_(std::make_shared<State>()) {}
HostArena::~HostArena() = default;

std::shared_ptr<Buffer> HostArena::allocate(std::size_t bytes) {
    const std::size_t wanted = size_class(bytes);
    state_->owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    state_->take_returned();
    auto [block, size] = state_->take_kept(wanted);
    if (block == nullptr) {
        block = state_->take_new(wanted);
        size = wanted;
    }
    state_->use.live += size;
    state_->use.peak = std::max(state_->use.peak, state_->use.live);
    std::shared_ptr<void> keep(
        block, [state = state_, taken = size](void* memory) { state->free(static_cast<std::byte*>(memory), taken); });
    return std::make_shared<HostBuffer>(std::move(keep), block, bytes);
}

void HostArena::trim() {
    state_->take_returned();
    state_->shrink_to(0);
}

Backend::MemoryUse HostArena::use() const {
    return state_->use;
}

std::size_t HostArena::reserved() const {
    return state_->reserved;
}

}  // namespace headscope
