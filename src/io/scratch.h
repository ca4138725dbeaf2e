// Bytes that are too many for memory, for as long as a program runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

// Appended once, read at random. The first `in_memory` bytes stay in memory; all others go to a file in `folder` that
// has no name, so that nothing is left of it however the program ends. Many threads may read at once.
class Scratch {
public:
    static constexpr std::size_t kInMemory = std::size_t{64} << 20U;

    explicit Scratch(std::string folder, std::size_t in_memory = kInMemory);
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch();

    // Returns where the bytes begin. Error that names the folder when the disk has no room.
    std::uint64_t append(const void* data, std::size_t bytes);
    // The bytes [at, at + bytes) must have been appended. Error when reading fails.
    void read(std::uint64_t at, void* into, std::size_t bytes) const;
    std::uint64_t size() const { return memory_.size() + file_size_ + pending_.size(); }

private:
    void open();
    void flush();

    std::string folder_;
    std::size_t in_memory_;
    std::vector<std::byte> memory_;   // the first bytes
    std::vector<std::byte> pending_;  // the last ones, not written yet
    std::uint64_t file_size_ = 0;
    int descriptor_ = -1;
};

}  // namespace headscope
