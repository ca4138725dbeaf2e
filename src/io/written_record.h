// Records which files a command generated, so that it replaces only its own files.
#pragma once

#include <string>
#include <vector>

#include "io/atomic_file.h"

namespace headscope {

// A small file in the folder stores the size and hash of each generated file: of the newest version and of the previous
// one, which stays if the command fails.
class WrittenRecord {
public:
    static constexpr const char* kFile = ".headscope-written.json";

    explicit WrittenRecord(std::string folder);

    // Error if two of these names are the same file, or if one exists and differs from its record.
    void require_own(const std::vector<std::string>& names) const;
    // Records the files' new contents, then commits them.
    void commit(const std::vector<AtomicFile*>& files) const;

private:
    std::string folder_;
};

}  // namespace headscope
