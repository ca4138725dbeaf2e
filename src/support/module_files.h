// The files of modules, which a program opens at run time.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// Where to look for modules: only in the `named` folder unless that is empty, else next to the program and in
// lib/headscope next to its folder, which is bin or libexec/headscope.
std::vector<std::string> module_folders(const std::string& named, const std::string& program);
// Of the program that runs.
std::vector<std::string> module_folders(const std::string& named);

// Whether every part that dlopen maps is in the file. dlopen does not check: reading past the end of a truncated file
// kills the program with SIGBUS.
bool is_whole_library(const std::string& path);

}  // namespace headscope
