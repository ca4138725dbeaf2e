#include "conformance/repeat.h"

#include <fmt/format.h>

#include "conformance/run.h"

namespace headscope::conformance {

std::string shell_quoted(const std::string& text) {
    std::string quoted = "'";
    for (const char letter : text) {
        quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return quoted + "'";
}

std::string repeat_command(const std::string& device, const Result& result, const std::string& title) {
    // "bf16 products" are of --dtype bf16; the oracle's own type is none that one asks for.
    const std::string dtype = result.precision.substr(0, result.precision.find_first_of(" +"));
    return fmt::format("headscope conform --device {} --op {}{} --path {} --case {}", device, result.op,
                       dtype.empty() || dtype == "f64" ? "" : " --dtype " + dtype,
                       result.path.empty() ? kChosenPath : result.path, shell_quoted(title));
}

}  // namespace headscope::conformance
