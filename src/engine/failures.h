// Why a request has no result, and whose fault a failure is.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

#include "support/check.h"

namespace headscope {

class Cancelled : public Error {
public:
    using Error::Error;
};
class DeadlineExceeded : public Error {
public:
    using Error::Error;
};
// No device has enough memory for the request, even when it runs alone.
class TooLarge : public Error {
public:
    using Error::Error;
};
// The engine takes no more requests, since it is drained or closed; or the model none, since it is unloaded.
class Closed : public Error {
public:
    using Error::Error;
};
// The engine belongs to the process before fork().
class Forked : public Error {
public:
    using Error::Error;
};
// The engine has as much work as it takes.
class Busy : public Error {
public:
    Busy(const std::string& what, std::chrono::milliseconds retry) : Error(what), retry_after(retry) {}
    std::chrono::milliseconds retry_after;  // until there is room, at the speed measured so far
};

enum class Fault : std::uint8_t {
    DeviceLost,   // the device's: it is reopened, and the work repeated
    OutOfMemory,  // the batch's: its halves may fit
    Request,      // anything else, until the device fails at known work, too
};
Fault classify(const std::exception_ptr& failure);

}  // namespace headscope
