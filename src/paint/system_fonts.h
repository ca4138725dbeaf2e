// Finds fonts of the system for characters that the embedded font lacks.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace headscope {

struct FontFile {
    std::string path;
    int face = 0;  // in a file with several
    bool operator==(const FontFile&) const = default;
};

// Fonts that have the character, the best one first.
using FontFinder = std::function<std::vector<FontFile>(char32_t character, bool bold)>;

// The sans-serif fonts that fontconfig prefers for the character, of those with TrueType or OpenType outlines in one
// colour: a few at most.
std::vector<FontFile> system_fonts(char32_t character, bool bold);

}  // namespace headscope
