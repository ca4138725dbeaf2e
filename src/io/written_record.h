// What a generator wrote into a folder, so that it replaces its own files and nobody else's.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// A small file in the folder holds the size and hash of each file that was generated there.
class WrittenRecord {
public:
    static constexpr const char* kFile = ".headscope-written.json";

    explicit WrittenRecord(std::string folder);

    // Error that names the first of these files that is there and is not, or not any more, as it was recorded.
    void require_own(const std::vector<std::string>& names) const;
    // Records these files as they are now.
    void save(const std::vector<std::string>& names) const;

private:
    std::string folder_;
};

}  // namespace headscope
