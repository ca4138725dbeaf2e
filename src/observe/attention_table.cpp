#include "observe/attention_table.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "support/utf8.h"

namespace headscope {

namespace {

using Cells = std::vector<std::string>;

std::size_t characters(const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++count) {
        next_character(text, at);
    }
    return count;
}

std::string aligned(const std::vector<Cells>& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const Cells& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], characters(row[column]));
        }
    }
    std::string text;
    for (const Cells& row : rows) {
        std::string line;
        for (std::size_t column = 0; column < row.size(); ++column) {
            line += row[column] + std::string(widths[column] - characters(row[column]) + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace

std::string attention_table(const AttentionRecord& record, const AttentionSelection& selection) {
    const SelectedAttention content = select_attention(record, selection);
    std::vector<std::size_t> queries = content.chosen;
    if (queries.empty()) {
        queries.resize(content.queries.size());
        std::iota(queries.begin(), queries.end(), std::size_t{0});
    }
    Cells head_row{""};
    for (const int head : content.heads) {
        head_row.push_back(fmt::format("head {}", head));
    }
    std::vector<Cells> rows{head_row};
    for (const std::size_t query : queries) {
        Cells row{content.queries[query].label};
        for (const int head : content.heads) {
            const std::size_t key = content.strongest(head, query);
            row.push_back(fmt::format("{} {:.2f}", content.keys[key].label, content.weight(head, query, key)));
        }
        rows.push_back(row);
    }
    return content.title + ": the strongest key of each head and its weight\n" + aligned(rows) +
           (content.note.empty() ? "" : content.note + "\n");
}

}  // namespace headscope
