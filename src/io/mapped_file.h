// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace headscope {

// Pages are read on first access and shared between processes. Accessing a file that was truncated while mapped raises
// SIGBUS, so files must be replaced by renaming (io/atomic_file.h), which keeps a mapping intact.
class MappedFile {
public:
    explicit MappedFile(const std::string& path);  // Error that names the path; an empty file has no bytes
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }
    // Gives the memory of a part back; its pages are read again on the next access.
    void release(std::span<const std::byte> part) const;

private:
    std::span<const std::byte> bytes_;
};

}  // namespace headscope
