// Random input to the window, the same for the same seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::test {

// A script of this many events; it opens some of `files`. Each kind of event and every item of the window can occur.
std::string random_script(std::uint64_t seed, int events, const std::vector<std::string>& files);

}  // namespace headscope::test
