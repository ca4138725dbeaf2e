#include "engine/failures.h"

#include "backend/backend.h"

namespace headscope {

Fault classify(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const OutOfMemory&) {
        return Fault::OutOfMemory;
    } catch (const DeviceLost&) {
        return Fault::DeviceLost;
    } catch (...) {
        return Fault::Request;
    }
}

}  // namespace headscope
