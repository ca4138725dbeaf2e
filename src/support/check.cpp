#include "support/check.h"

namespace headscope {

std::string what_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "unknown error";
    }
}

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
    throw CheckFailure(std::string(file) + ":" + std::to_string(line) + ": " + message + " (" + condition + ")");
}

}  // namespace headscope
