// Man pages and shell completion, written from what --help says.
#pragma once

#include <map>
#include <string>

#include "options/command_tree.h"

namespace headscope {

// Their texts by the places of the files in a folder such as /usr/share.
std::map<std::string, std::string> manual_files(const CommandText& program);

// headscope-translate(1)
std::string man_page(const CommandText& command);

std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

}  // namespace headscope
