// A temporary folder, removed at the end with everything in it.
#pragma once

#include <string>

namespace headscope {

class ScratchFolder {
public:
    ScratchFolder();  // Error if it cannot be created
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder();

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace headscope
