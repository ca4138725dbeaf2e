// Allocates byte ranges of blocks: best fit with coalescing, in plain C++ so that it can be tested without a device.
// The same sequence of sizes gives the same places.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headscope {

// Recordings (Backend::replay) write to the same places each time they run, so nothing else may use those.
enum class Pool : std::uint8_t { Ops, Recordings };

struct ArenaPlace {
    std::uint32_t block = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // as requested, rounded up to the alignment
};

class Arena {
public:
    explicit Arena(std::uint64_t alignment) : alignment_(alignment) {}

    std::uint64_t rounded(std::uint64_t bytes) const;
    // Adds a free block of this size. Numbers of removed blocks are reused.
    std::uint32_t add_block(std::uint64_t bytes);
    void remove_block(std::uint32_t block);
    // The smallest free range that fits, the lowest of equal ones; std::nullopt if no block has one.
    std::optional<ArenaPlace> take(std::uint64_t bytes);
    void give_back(const ArenaPlace& place);
    std::vector<std::uint32_t> empty_blocks() const;

private:
    using Range = std::pair<std::uint32_t, std::uint64_t>;  // block, offset
    struct Block {
        std::uint64_t bytes = 0;                        // 0: no block
        std::map<std::uint64_t, std::uint64_t> free{};  // offset -> bytes
    };
    void add_free(std::uint32_t block, std::uint64_t offset, std::uint64_t bytes);
    void remove_free(std::uint32_t block, std::uint64_t offset, std::uint64_t bytes);

    std::uint64_t alignment_;
    std::vector<Block> blocks_;
    std::set<std::pair<std::uint64_t, Range>> by_size_;
};

}  // namespace headscope
