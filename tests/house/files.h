// Where the tests' files are: where they were built, or on another machine where the environment says.
#pragma once

#include <cstdlib>
#include <string>

namespace headscope {

inline std::string built_file(const char* variable, const char* built) {
    const char* elsewhere = std::getenv(variable);
    return elsewhere == nullptr ? built : elsewhere;
}

#ifdef HEADSCOPE_SOURCE_DIR
// `name` counts from the checkout's root.
inline std::string checkout_file(const std::string& name) {
    return built_file("HEADSCOPE_SOURCE_DIR", HEADSCOPE_SOURCE_DIR) + "/" + name;
}
#endif

}  // namespace headscope
