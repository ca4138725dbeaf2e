// The terms of docs/glossary.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::viewer {

struct Term {
    std::string name, meaning;
};

// In the page's order.
std::vector<Term> glossary_terms();
// The page, in Markdown.
std::string_view glossary_page();

}  // namespace headscope::viewer
