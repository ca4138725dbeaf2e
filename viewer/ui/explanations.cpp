#include "viewer/ui/explanations.h"

#include <sstream>

namespace headscope::viewer {

namespace {

// Without the marks of Markdown: code, emphasis, and links, of which the text stays.
std::string plain(const std::string& markdown) {
    std::string text;
    for (std::size_t at = 0; at < markdown.size(); ++at) {
        const char c = markdown[at];
        const std::size_t closed = c == '[' ? markdown.find(']', at) : std::string::npos;
        const std::size_t end = closed == std::string::npos ? closed : markdown.find(')', closed);
        if (end != std::string::npos && markdown[closed + 1] == '(') {
            text += plain(markdown.substr(at + 1, closed - at - 1));
            at = end;
        } else if (c != '`' && c != '*') {
            text += c;
        }
    }
    return text;
}

// "| a | b |" as cells.
ExplainedRow cells_of(const std::string& line) {
    constexpr std::string_view kEnd = " |";
    ExplainedRow cells;
    for (std::size_t from = 1, to = 0; (to = line.find(kEnd, from)) != std::string::npos; from = to + kEnd.size()) {
        const std::string cell = line.substr(from, to - from);
        cells.push_back(plain(cell.substr(cell.starts_with(' ') ? 1 : 0)));
    }
    return cells;
}

// The rows of the page's table with this header.
std::vector<ExplainedRow> rows_of(std::string_view page, const std::string& header) {
    std::vector<ExplainedRow> rows;
    std::istringstream lines{std::string(page)};
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (inside && line.starts_with("| ")) {
            rows.push_back(cells_of(line));
        }
        inside = line == header || (inside && line.starts_with('|'));
    }
    return rows;
}

}  // namespace

std::vector<ExplainedRow> glossary_terms() {
    return rows_of(glossary_page(), "| term | meaning |");
}

std::vector<ExplainedRow> explained_panels() {
    return rows_of(viewer_page(), "| panel | what it shows | keys |");
}

}  // namespace headscope::viewer
