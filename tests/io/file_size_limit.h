// Simulates a full disk.
#pragma once

#include <sys/resource.h>

#include <csignal>

#include "support/check.h"

namespace headscope {

// While it exists, this process cannot write files beyond `bytes`: more is a short write.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        HEADSCOPE_CHECK(::getrlimit(RLIMIT_FSIZE, &before_) == 0, "getrlimit failed");
        const struct rlimit limited = {bytes, before_.rlim_max};
        HEADSCOPE_CHECK(::setrlimit(RLIMIT_FSIZE, &limited) == 0, "setrlimit failed");
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
