// A folder for the results of what may yet fail.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope {

// Makes a folder, and those above it, where they are missing. Unless they are kept, those that it made go again; one in
// which something lies stays.
class MadeFolder {
public:
    explicit MadeFolder(const std::string& path);  // Error when it cannot be made
    MadeFolder(const MadeFolder&) = delete;
    MadeFolder& operator=(const MadeFolder&) = delete;
    ~MadeFolder() { remove(); }

    void keep() { made_.clear(); }

private:
    void remove() const;
    std::vector<std::filesystem::path> made_;  // the innermost first
};

}  // namespace headscope
