#include "observe/attention_table.h"

#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "observe/text_table.h"

namespace headscope {

std::string attention_table(const SelectedAttention& content) {
    std::vector<std::size_t> queries = content.chosen;
    if (queries.empty()) {
        queries.resize(content.queries.size());
        std::iota(queries.begin(), queries.end(), std::size_t{0});
    }
    using Cells = std::vector<std::string>;
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
    return content.title + ": the strongest key of each head and its weight\n" + text_table(rows) +
           (content.note.empty() ? "" : content.note + "\n");
}

}  // namespace headscope
