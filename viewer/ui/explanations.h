// What the documents say of the window: the terms of docs/glossary.md, and the panels of docs/viewer.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::viewer {

// A row of a table, as plain text: a term and its meaning; or a panel, what it shows, and its keys.
using ExplainedRow = std::vector<std::string>;

// In the page's order.
std::vector<ExplainedRow> glossary_terms();
std::vector<ExplainedRow> explained_panels();

// The pages, in Markdown.
std::string_view glossary_page();
std::string_view viewer_page();

}  // namespace headscope::viewer
