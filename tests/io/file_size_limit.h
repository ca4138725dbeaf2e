// A disk that is full, for a test.
#pragma once

#include <sys/resource.h>

#include <csignal>

#include "support/check.h"

namespace headscope {

// While it lives, this process writes no file beyond `bytes`: what goes past fails like any short write.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        HEADSCOPE_CHECK(::getrlimit(RLIMIT_FSIZE, &before_) == 0, "the limit is readable");
        const struct rlimit limited = {bytes, before_.rlim_max};
        HEADSCOPE_CHECK(::setrlimit(RLIMIT_FSIZE, &limited) == 0, "a limit may be lowered");
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }

private:
    struct rlimit before_ {};
    void (*signal_)(int);
};

}  // namespace headscope
