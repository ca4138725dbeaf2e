// Compares pictures of the window, tolerating invisible differences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headscope::test {

struct Pixels {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgba;
};
Pixels read_png(const std::string& file);

// Empty if two pictures look alike: they have the same size, and in every tile of the size of a button all but a few
// pixels have nearly the same colour. Ignores the status line, which has timings and the device's name.
std::string difference_of(const Pixels& seen, const Pixels& wanted);

}  // namespace headscope::test
