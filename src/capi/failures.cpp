#include "capi/failures.h"

#include <chrono>
#include <new>

#include <fmt/format.h>

#include "backend/backend.h"
#include "capi/text.h"
#include "engine/failures.h"
#include "support/usage_error.h"

namespace headscope {

namespace {

double retry_after(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Busy& busy) {
        return std::chrono::duration<double>(busy.retry_after).count();
    } catch (...) {
        return 0.0;
    }
}

}  // namespace

hs_status status_of(const std::exception_ptr& failure, hs_status plain) {
    try {
        std::rethrow_exception(failure);
    } catch (const Failure& known) {
        return known.status();
    } catch (const Busy&) {
        return HS_BUSY;
    } catch (const Cancelled&) {
        return HS_CANCELLED;
    } catch (const DeadlineExceeded&) {
        return HS_DEADLINE;
    } catch (const TooLarge&) {
        return HS_MEMORY;
    } catch (const OutOfMemory&) {
        return HS_MEMORY;
    } catch (const std::bad_alloc&) {
        return HS_MEMORY;
    } catch (const DeviceLost&) {
        return HS_DEVICE;
    } catch (const Closed&) {
        return HS_CLOSED;
    } catch (const Forked&) {
        return HS_FORKED;
    } catch (const UsageError&) {
        return HS_INVALID;
    } catch (const Error&) {
        return plain;
    } catch (...) {
        return HS_INTERNAL;
    }
}

void require_size(std::uint32_t size, std::size_t least, const char* what, const char* type) {
    if (size < least) {
        throw Failure(HS_INVALID, fmt::format("{} has the size {}: set it to sizeof({})", what, size, type));
    }
}

hs_status report(const std::exception_ptr& failure, hs_error** error, hs_status plain) noexcept {
    const hs_status status = status_of(failure, plain);
    if (error != nullptr) {
        try {
            *error = new hs_error{status, what_of(failure), retry_after(failure)};
        } catch (...) {
            *error = nullptr;  // hs_error_message(NULL) is empty
        }
    }
    return status;
}

}  // namespace headscope

using namespace headscope;  // NOLINT(google-build-using-namespace): the functions of the header are global

hs_status hs_error_status(const hs_error* error) {
    return error == nullptr ? HS_OK : error->status;
}

hs_text hs_error_message(const hs_error* error) {
    return error == nullptr ? hs_text{"", 0} : lent(error->message);
}

double hs_error_retry_after(const hs_error* error) {
    return error == nullptr ? 0.0 : error->retry_after;
}

void hs_error_free(hs_error* error) {
    delete error;
}
