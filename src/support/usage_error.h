// An error in the words of a command, such as options that exclude each other. Programs exit with kUsageExit, and with
// 1 after other errors.
#pragma once

#include "support/check.h"

namespace headscope {

inline constexpr int kUsageExit = 2;

class UsageError : public Error {
public:
    using Error::Error;
};

}  // namespace headscope
