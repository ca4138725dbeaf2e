// The commands of the program, one file each: every one adds itself to the command line.
#pragma once

#include "backend/open_options.h"
#include "options/terminal.h"

namespace CLI {
class App;
}

namespace headscope {

void add_train_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_average_command(CLI::App& app, const OpenOptions& open_options);
void add_experiment_command(CLI::App& app, const OpenOptions& open_options);
void add_sweep_command(CLI::App& app, const OpenOptions& open_options);
void add_plot_command(CLI::App& app);
void add_data_command(CLI::App& app);
void add_make_task_command(CLI::App& app);
void add_trees_command(CLI::App& app);
void add_translate_command(CLI::App& app, const OpenOptions& open_options);
void add_complete_command(CLI::App& app, const OpenOptions& open_options);
void add_chat_command(CLI::App& app, const OpenOptions& open_options);
void add_rank_command(CLI::App& app, const OpenOptions& open_options);
void add_fill_command(CLI::App& app, const OpenOptions& open_options);
void add_score_command(CLI::App& app, const OpenOptions& open_options);
void add_embed_command(CLI::App& app, const OpenOptions& open_options);
void add_classify_command(CLI::App& app, const OpenOptions& open_options);
void add_answer_command(CLI::App& app, const OpenOptions& open_options);
void add_compare_command(CLI::App& app, const OpenOptions& open_options);
void add_export_command(CLI::App& app, const OpenOptions& open_options);
void add_import_command(CLI::App& app, const OpenOptions& open_options);
void add_inspect_command(CLI::App& app, const OpenOptions& open_options);
void add_tokenize_command(CLI::App& app, const OpenOptions& open_options);
void add_devices_command(CLI::App& app, const OpenOptions& open_options);
void add_tune_command(CLI::App& app, const OpenOptions& open_options);
void add_manual_command(CLI::App& app);
void add_parse_command(CLI::App& app, const OpenOptions& open_options);
void add_attention_command(CLI::App& app, const OpenOptions& open_options);
// These get the process's command line, to pass it on or to record it in results.
void add_evaluate_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_calibrate_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_conform_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_bench_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_view_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);

}  // namespace headscope
