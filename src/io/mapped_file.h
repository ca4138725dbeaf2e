// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace headscope {

// The pages are read when touched and shared between processes. A file that is cut short while it is mapped raises
// SIGBUS at the touch: files are to be replaced by renaming (io/atomic_file.h), which leaves a mapping whole.
class MappedFile {
public:
    explicit MappedFile(const std::string& path);  // Error that names the path; an empty file maps to no bytes
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

}  // namespace headscope
