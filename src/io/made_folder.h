// An output folder that is removed again on failure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headscope {

// Creates a folder and its missing parents. The destructor removes the created ones that are empty, unless keep() was
// called.
class MadeFolder {
public:
    explicit MadeFolder(const std::string& path);  // Error if it cannot be created
    MadeFolder(const MadeFolder&) = delete;
    MadeFolder& operator=(const MadeFolder&) = delete;
    ~MadeFolder() { remove(); }

    void keep() { made_.clear(); }

private:
    void remove() const;
    std::vector<std::filesystem::path> made_;  // innermost first
};

}  // namespace headscope
