// Memory that is kept: freed blocks are reused for requests of about the same size, so that repeated steps use the same
// addresses (and pages).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "backend/backend.h"

namespace headscope {

class HostArena {
public:
    HostArena();
    ~HostArena();
    HostArena(const HostArena&) = delete;
    HostArena& operator=(const HostArena&) = delete;

    // At least `bytes` bytes, aligned to 64. Error if the system has no more.
    std::shared_ptr<Buffer> allocate(std::size_t bytes);

    // Returns what is kept to the system.
    void trim();

    Backend::MemoryUse use() const;
    std::size_t reserved() const;  // live and kept

private:
    struct State;
    std::shared_ptr<State> state_;  // shared with the buffers, which may outlive the arena
};

// A buffer in host memory.
class HostBuffer final : public Buffer {
public:
    HostBuffer(std::shared_ptr<void> keep, std::byte* data, std::size_t bytes)
        : keep_(std::move(keep)), data_(data), bytes_(bytes) {}
    std::size_t bytes() const override { return bytes_; }
    Address address() const override { return {0, reinterpret_cast<std::uintptr_t>(data_)}; }
    std::byte* data() const { return data_; }

private:
    std::shared_ptr<void> keep_;  // frees the memory
    std::byte* data_;
    std::size_t bytes_;
};

}  // namespace headscope
