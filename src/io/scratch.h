// Temporary storage for data that does not fit in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope {

// Append-only with random reads. The first `in_memory` bytes stay in memory; all others go to an unlinked file in
// `folder`, so that nothing is left of it however the program ends. Many threads may read at once.
class Scratch {
public:
    static constexpr std::size_t kInMemory = std::size_t{64} << 20U;

    explicit Scratch(std::string folder, std::size_t in_memory = kInMemory);
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch();

    // Returns the position of the bytes. Error that names the folder if the disk is full.
    std::uint64_t append(const void* data, std::size_t bytes);
    // The bytes [at, at + bytes) must have been appended. Error if reading fails.
    void read(std::uint64_t at, void* into, std::size_t bytes) const;
    std::uint64_t size() const { return memory_.size() + file_size_ + pending_.size(); }

private:
    void open();
    void flush();

    std::string folder_;
    std::size_t in_memory_;
    std::vector<std::byte> memory_;   // the first bytes
    std::vector<std::byte> pending_;  // the last bytes, not yet written
    std::uint64_t file_size_ = 0;
    int descriptor_ = -1;
};

}  // namespace headscope
