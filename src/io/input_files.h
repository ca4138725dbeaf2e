// Prevents a command from overwriting its inputs.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "support/settings.h"

namespace headscope {

// Files are compared by device and inode, so that hard links, symbolic links and different spellings of a path are
// recognized.
class InputFiles {
public:
    InputFiles() = default;
    // For a command that may write the trace of HEADSCOPE_TRACE.
    explicit InputFiles(const Settings& settings) : trace_(settings.get("HEADSCOPE_TRACE")) {}

    // A file, everything in a folder, or "-" for standard input. An empty path is ignored. Missing files are left to
    // their reader to report.
    void add(const std::string& path);
    void add(const std::vector<std::string>& paths);

    // Error if writing `output` would change an input; "-" or an empty path is standard output. Standard output and the
    // trace are always checked. Call it before anything is written.
    void refuse(const std::string& output) const;

private:
    struct File {
        dev_t device;
        ino_t inode;
        std::string path;  // as given
    };
    void add_one(const std::string& path);
    void refuse_one(const std::optional<struct stat>& written, const std::string& path, const std::string& name) const;

    std::string trace_;
    std::vector<File> files_;
};

}  // namespace headscope
