// Keeps a command from writing over what it reads.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace headscope {

// Files are compared by device and inode, so that hard links, symbolic links and other spellings of a path count.
class InputFiles {
public:
    // A file, everything in a folder, or "-" for standard input. An empty path is none; what does not exist is left to
    // its reader to report.
    void add(const std::string& path);
    void add(const std::vector<std::string>& paths);

    // Error where writing `output` would change an input; "-" or an empty path is standard output. To be called before
    // anything is written.
    void refuse(const std::string& output) const;

private:
    struct File {
        dev_t device;
        ino_t inode;
        std::string name;
    };
    void add_one(const std::string& path);

    std::vector<File> files_;
};

}  // namespace headscope
