// The two kinds of failure, kept apart: a programmer's mistake and the environment's failure.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace headscope {

// The world was not as it had to be: a file, a device, an input. The message says what was
// expected, what was found and what to do; programs print it and exit with 1.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A broken promise inside the program: always checked, also in release builds.
class CheckFailure : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

// What an exception that is kept says of itself.
std::string what_of(const std::exception_ptr& failure);

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

}  // namespace headscope

// HEADSCOPE_CHECK(condition, message): message is any expression convertible to std::string and is
// evaluated only on failure.
#define HEADSCOPE_CHECK(condition, message)                                       \
    do {                                                                          \
        if (!(condition)) {                                                       \
            ::headscope::check_failed(__FILE__, __LINE__, #condition, (message)); \
        }                                                                         \
    } while (false)
