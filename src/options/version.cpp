#include "options/version.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commit.h"  // written by cmake/WriteCommit.cmake
#include "registry/registry.h"

namespace headscope {

std::string program_version() {
    return HEADSCOPE_VERSION;
}

std::string program_commit() {
    return HEADSCOPE_COMMIT;
}

std::string version_line(const std::string& program) {
    return fmt::format("{} {} (commit {}; {}; {})", program, program_version(), program_commit(),
                       fmt::join(built_backends(), ", "), HEADSCOPE_COMPILER);
}

}  // namespace headscope
