#include "backend/arena.h"

#include <iterator>

#include "support/check.h"

namespace headscope {

std::uint64_t Arena::rounded(std::uint64_t bytes) const {
    // Empty tensors get a place too: a descriptor must point at something.
    const std::uint64_t least = bytes == 0 ? 1 : bytes;
    return (least + alignment_ - 1) / alignment_ * alignment_;
}

std::uint32_t Arena::add_block(std::uint64_t bytes) {
    std::uint32_t block = 0;
    while (block < blocks_.size() && blocks_[block].bytes != 0) {
        ++block;
    }
    if (block == blocks_.size()) {
        blocks_.emplace_back();
    }
    blocks_[block].bytes = bytes;
    add_free(block, 0, bytes);
    return block;
}

void Arena::remove_block(std::uint32_t block) {
    Block& gone = blocks_.at(block);
    HEADSCOPE_CHECK(gone.free.size() == 1 && gone.free.begin()->second == gone.bytes, "the block is still in use");
    remove_free(block, 0, gone.bytes);
    gone.bytes = 0;
}

std::optional<ArenaPlace> Arena::take(std::uint64_t bytes) {
    const std::uint64_t size = rounded(bytes);
    const auto found = by_size_.lower_bound({size, {0, 0}});
    if (found == by_size_.end()) {
        return std::nullopt;
    }
    const auto [free_bytes, range] = *found;
    const auto [block, offset] = range;
    remove_free(block, offset, free_bytes);
    if (free_bytes > size) {
        add_free(block, offset + size, free_bytes - size);
    }
    return ArenaPlace{block, offset, size};
}

void Arena::give_back(const ArenaPlace& place) {
    Block& block = blocks_.at(place.block);
    std::uint64_t begin = place.offset;
    std::uint64_t end = place.offset + place.bytes;
    const auto next = block.free.lower_bound(begin);
    if (next != block.free.begin()) {
        const auto [offset, bytes] = *std::prev(next);
        HEADSCOPE_CHECK(offset + bytes <= begin, "a range is given back twice");
        if (offset + bytes == begin) {
            remove_free(place.block, offset, bytes);
            begin = offset;
        }
    }
    const auto after = block.free.lower_bound(place.offset);
    if (after != block.free.end()) {
        const auto [offset, bytes] = *after;
        HEADSCOPE_CHECK(offset >= end, "a range is given back twice");
        if (offset == end) {
            remove_free(place.block, offset, bytes);
            end += bytes;
        }
    }
    add_free(place.block, begin, end - begin);
}

std::vector<std::uint32_t> Arena::empty_blocks() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t index = 0; index < blocks_.size(); ++index) {
        const Block& block = blocks_[index];
        if (block.bytes != 0 && block.free.size() == 1 && block.free.begin()->second == block.bytes) {
            found.push_back(index);
        }
    }
    return found;
}

void Arena::add_free(std::uint32_t block, std::uint64_t offset, std::uint64_t bytes) {
    blocks_[block].free.emplace(offset, bytes);
    by_size_.insert({bytes, {block, offset}});
}

void Arena::remove_free(std::uint32_t block, std::uint64_t offset, std::uint64_t bytes) {
    blocks_[block].free.erase(offset);
    by_size_.erase({bytes, {block, offset}});
}

}  // namespace headscope
