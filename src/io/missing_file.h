// The error that a named file does not exist, for programs that say what to do instead.
#pragma once

#include <string>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

class MissingFile : public Error {
public:
    // `name` is that of the file in messages.
    MissingFile(const std::string& path, const std::string& name)
        : Error(fmt::format("cannot read {}: No such file or directory", name)), path_(path) {}

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace headscope
