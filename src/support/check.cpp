#include "support/check.h"

namespace headscope {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
    throw CheckFailure(std::string(file) + ":" + std::to_string(line) + ": " + message + " (" + condition + ")");
}

}  // namespace headscope
