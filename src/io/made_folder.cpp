#include "io/made_folder.h"

#include <unistd.h>

#include <system_error>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace fs = std::filesystem;

MadeFolder::MadeFolder(const std::string& path) {
    std::error_code failure;
    for (fs::path missing = path; !missing.empty() && !fs::exists(missing, failure); missing = missing.parent_path()) {
        made_.push_back(missing);
    }
    fs::create_directories(path, failure);
    if (failure) {
        remove();
        throw Error(fmt::format("cannot create the folder '{}': {}; choose another", path, failure.message()));
    }
}

void MadeFolder::remove() const {
    for (const fs::path& folder : made_) {
        static_cast<void>(::rmdir(folder.c_str()));  // fails if it is not empty
    }
}

}  // namespace headscope
