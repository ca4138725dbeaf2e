// Exceptions become statuses where the C library ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include <headscope/headscope.h>
#include "support/check.h"

struct hs_error {
    hs_status status = HS_OK;
    std::string message;
    double retry_after = 0.0;
};

namespace headscope {

// An error whose status the place that finds it knows.
class Failure : public Error {
public:
    Failure(hs_status status, const std::string& message) : Error(message), status_(status) {}
    hs_status status() const { return status_; }

private:
    hs_status status_;
};

// `plain`: of an Error of no special kind.
hs_status status_of(const std::exception_ptr& failure, hs_status plain = HS_FAILED);
// Stores an error, if `error` is not null and there is memory for it. Returns its status.
hs_status report(const std::exception_ptr& failure, hs_error** error, hs_status plain) noexcept;

// Runs the body of a function of the library, which returns a status, or nothing for HS_OK.
template <class Body>
hs_status guarded(hs_error** error, const Body& body, hs_status plain = HS_FAILED) noexcept {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<const Body&>>) {
            body();
            return HS_OK;
        } else {
            return body();
        }
    } catch (...) {
        return report(std::current_exception(), error, plain);
    }
}

// The same where what fails is what the caller gave.
template <class Body>
hs_status guarded_input(hs_error** error, const Body& body) noexcept {
    return guarded(error, body, HS_INVALID);
}

// Runs what fails with `plain`, unless its exception says more than that an argument is wrong.
template <class Body>
auto failing_with(hs_status plain, const Body& body) {
    try {
        return body();
    } catch (const Error& error) {
        const hs_status status = status_of(std::current_exception(), plain);
        throw Failure(status == HS_INVALID ? plain : status, error.what());
    }
}

// Failure if a struct of the caller is smaller than it was in the first version of the header. Later members are only
// written where the size has them.
void require_size(std::uint32_t size, std::size_t least, const char* what, const char* type);

// Failure if an argument is NULL. Returns it.
template <class Argument>
Argument& given(Argument* argument, const char* name) {
    if (argument == nullptr) {
        throw Failure(HS_INVALID, std::string(name) + " is NULL, but must be given");
    }
    return *argument;
}

}  // namespace headscope
