// Pictures of the window, compared as an eye would.
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

// Empty where two pictures look alike: of one size, and in every part of the size of a button all but a few pixels of
// nearly one colour. The status line at the foot is left out: it tells times and the device's name.
std::string difference_of(const Pixels& seen, const Pixels& wanted);

}  // namespace headscope::test
