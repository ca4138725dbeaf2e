#include "io/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

ScratchFolder::ScratchFolder() : path_((std::filesystem::temp_directory_path() / "headscope-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
        throw Error(
            fmt::format("cannot make a temporary folder {}: {}", path_, std::generic_category().message(errno)));
    }
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace headscope
