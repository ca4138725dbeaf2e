// What a test's code says on standard error.
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/io/temporary_folder.h"

namespace headscope::vulkan_tests {

// What goes to standard error while one lives.
class StandardError {
public:
    StandardError() : before_(dup(STDERR_FILENO)) {
        REQUIRE(std::freopen(folder_.file("said").c_str(), "w", stderr) != nullptr);
    }
    StandardError(const StandardError&) = delete;
    StandardError& operator=(const StandardError&) = delete;
    ~StandardError() {
        std::fflush(stderr);
        dup2(before_, STDERR_FILENO);
        close(before_);
    }
    std::string text() const {
        std::fflush(stderr);
        std::ifstream file(folder_.file("said"));
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    TemporaryFolder folder_;
    int before_;
};

}  // namespace headscope::vulkan_tests
