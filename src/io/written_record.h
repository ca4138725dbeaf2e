// What a generator wrote into a folder, so that it replaces its own files and nobody else's.
#pragma once

#include <string>
#include <vector>

#include "io/atomic_file.h"

namespace headscope {

// A small file in the folder holds the size and hash of each file that was generated there: of the newest, and of the
// one before, which stays where a generator fails on its way.
class WrittenRecord {
public:
    static constexpr const char* kFile = ".headscope-written.json";

    explicit WrittenRecord(std::string folder);

    // Error that names two of these files that are one, or the first that is there and not as it was recorded.
    void require_own(const std::vector<std::string>& names) const;
    // Records these files of the folder as they will be, then commits them.
    void commit(const std::vector<AtomicFile*>& files) const;

private:
    std::string folder_;
};

}  // namespace headscope
