#include "support/environment.h"

#include <cstdlib>

#include "support/check.h"

namespace headscope {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool environment_switch(const char* name) {
    const std::string text = environment(name);
    if (!text.empty() && text != "0" && text != "1") {
        throw Error(std::string(name) + " is \"" + text + "\"; expected 1 or 0");
    }
    return text == "1";
}

}  // namespace headscope
