// The experiments of headscope experiment, one file each.
#pragma once

#include "backend/open_options.h"

namespace CLI {
class App;
}

namespace headscope {

void add_table1_command(CLI::App& app, const OpenOptions& open_options);
void add_table2_command(CLI::App& app, const OpenOptions& open_options);
void add_table3_command(CLI::App& app, const OpenOptions& open_options);
void add_attention_scores_command(CLI::App& app, const OpenOptions& open_options);
void add_long_range_command(CLI::App& app, const OpenOptions& open_options);
void add_replaced_command(CLI::App& app, const OpenOptions& open_options);

}  // namespace headscope
