// Which accesses since the last barrier conflict with the next: the only place that decides on barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headscope::vulkan {

struct Access {
    std::uint32_t block = 0;
    std::uint64_t begin = 0;  // bytes, end exclusive
    std::uint64_t end = 0;
    bool write = false;
};

class Hazards {
public:
    // Read after write, write after read or write after write, of overlapping bytes.
    bool conflict(std::span<const Access> next) const;
    void add(std::span<const Access> accesses);
    std::size_t size() const { return pending_.size(); }
    void clear() { pending_.clear(); }

private:
    std::vector<Access> pending_;
};

}  // namespace headscope::vulkan
