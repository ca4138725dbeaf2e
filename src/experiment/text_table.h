// A small table of text, for the terminal and for Markdown.
#pragma once

#include <cstddef>

#include <string>
#include <vector>

namespace headscope {

struct TextTable {
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;  // as many cells as `head`
    std::size_t left = 1;                        // this many columns are aligned on the left, the others on the right

    std::string plain() const;
    std::string markdown() const;
};

}  // namespace headscope
