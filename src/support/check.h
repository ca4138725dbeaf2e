// The two kinds of failure: errors of the environment and bugs.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace headscope {

// A bad file, device or input. The message says what was expected, what was found and what to do; programs print it and
// exit with 1.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A bug: a broken invariant, checked also in release builds.
class CheckFailure : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

// The message of a stored exception.
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
