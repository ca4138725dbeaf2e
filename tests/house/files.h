// Paths of the tests' files: where they were built, unless the environment overrides this on another machine.
#pragma once

#include <cstdlib>
#include <string>

namespace headscope {

inline std::string built_file(const char* variable, const char* built) {
    const char* elsewhere = std::getenv(variable);
    return elsewhere == nullptr ? built : elsewhere;
}

#ifdef HEADSCOPE_SOURCE_DIR
// `name` is relative to the checkout's root.
inline std::string checkout_file(const std::string& name) {
    return built_file("HEADSCOPE_SOURCE_DIR", HEADSCOPE_SOURCE_DIR) + "/" + name;
}
#endif

}  // namespace headscope
