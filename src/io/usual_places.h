// Where programs look for the files that come with them.
#pragma once

#include <filesystem>
#include <vector>

namespace headscope {

// Folders with `models` and `configs`, which libraries take as their search path: share/headscope beside the folder of
// `file`, a program in bin or libexec/headscope or a library in lib or lib/TRIPLET (installed), then assets above it (a
// source tree).
std::vector<std::filesystem::path> places_around(const std::filesystem::path& file);

// places_around() the running program, and assets under the working directory before those above the program.
std::vector<std::filesystem::path> usual_places();

}  // namespace headscope
