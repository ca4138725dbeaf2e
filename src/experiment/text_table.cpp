#include "experiment/text_table.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

using Row = std::vector<std::string>;

// The number of characters, which these tables have one per column.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::size_t> widths_of(const TextTable& table) {
    std::vector<std::size_t> widths(table.head.size(), 3);  // Markdown's least
    const auto widen = [&](const Row& row) {
        HEADSCOPE_CHECK(row.size() == widths.size(), "every row has a cell for every column");
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row[i]));
        }
    };
    widen(table.head);
    std::for_each(table.rows.begin(), table.rows.end(), widen);
    return widths;
}

// One line for each row, its cells between `before`, `between` and `after`.
std::string lines_of(const TextTable& table, const std::vector<std::size_t>& widths, const std::string& rule,
                     const char* before, const char* between, const char* after) {
    const auto line = [&](const Row& row) {
        std::string text = before;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - width_of(row[i]), ' ');
            text += (i == 0 ? "" : between) + (i < table.left ? row[i] + space : space + row[i]);
        }
        text += after;
        text.erase(text.find_last_not_of(' ') + 1);
        return text + "\n";
    };
    std::string text = line(table.head) + rule + "\n";
    for (const Row& row : table.rows) {
        text += line(row);
    }
    return text;
}

}  // namespace

std::string TextTable::plain() const {
    const std::vector<std::size_t> widths = widths_of(*this);
    std::size_t all = 2 * (widths.size() - 1);
    for (const std::size_t width : widths) {
        all += width;
    }
    return lines_of(*this, widths, std::string(all, '-'), "", "  ", "");
}

std::string TextTable::markdown() const {
    const std::vector<std::size_t> widths = widths_of(*this);
    std::string rule = "|";
    for (std::size_t i = 0; i < widths.size(); ++i) {
        rule += i < left ? std::string(widths[i] + 2, '-') + "|" : std::string(widths[i] + 1, '-') + ":|";
    }
    return lines_of(*this, widths, rule, "| ", " | ", " |");
}

}  // namespace headscope
