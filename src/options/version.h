// What was built.
#pragma once

#include <string>

namespace headscope {

std::string program_version();
// The first digits of the commit's hash; "unknown" if the source was no Git checkout.
std::string program_commit();
// "headscope 0.1.0 (commit 4fc99962ea; cpu, cuda, vulkan; GNU 12.2.0)"
std::string version_line(const std::string& program);

}  // namespace headscope
