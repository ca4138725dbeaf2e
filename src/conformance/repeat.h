// How one case is run again.
#pragma once

#include <string>

#include "conformance/report.h"

namespace headscope::conformance {

// As a shell takes it.
std::string shell_quoted(const std::string& text);

// headscope conform --device vulkan:0 --op matmul --dtype f16 --path no-subgroups --case '...'
std::string repeat_command(const std::string& device, const Result& result, const std::string& title);

}  // namespace headscope::conformance
