// Where modules are searched. tests/cuda/loader_modules_test.cpp has truncated files.
#include "support/module_files.h"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace headscope;

TEST_CASE("modules are next to the program, in ../lib/headscope, or in the named folder", "[modules]") {
    using Folders = std::vector<std::string>;
    CHECK(module_folders("", "/opt/hs/bin/headscope") == Folders{"/opt/hs/bin", "/opt/hs/lib/headscope"});
    CHECK(module_folders("", "/opt/hs/libexec/headscope/headscope-viewer") ==
          Folders{"/opt/hs/libexec/headscope", "/opt/hs/lib/headscope"});
    CHECK(module_folders("/elsewhere", "/opt/hs/bin/headscope") == Folders{"/elsewhere"});
    CHECK(module_folders("").at(0) == std::filesystem::canonical("/proc/self/exe").parent_path().string());
    CHECK(is_whole_library("/proc/self/exe"));
    CHECK_FALSE(is_whole_library("/etc/passwd"));
    CHECK_FALSE(is_whole_library("/no such file"));
}
