// Cells in columns, for a terminal.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// A line for each row; all have as many cells as the first. Columns are as wide as their widest cell.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace headscope
