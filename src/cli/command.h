// The commands of the program, one file each: every one adds itself to the command line.
#pragma once

#include <string_view>

#include "backend/open_options.h"

namespace CLI {
class App;
}

namespace headscope {

void add_train_command(CLI::App& app, const OpenOptions& open_options);
void add_plot_command(CLI::App& app);
void add_data_command(CLI::App& app);
void add_make_task_command(CLI::App& app);
void add_translate_command(CLI::App& app, const OpenOptions& open_options);
void add_score_command(CLI::App& app, const OpenOptions& open_options);
void add_compare_command(CLI::App& app, const OpenOptions& open_options);
void add_inspect_command(CLI::App& app, const OpenOptions& open_options);
void add_devices_command(CLI::App& app, const OpenOptions& open_options);
void add_tune_command(CLI::App& app, const OpenOptions& open_options);
void add_attention_command(CLI::App& app, const OpenOptions& open_options);
// With the process' own command line, which it hands on, or writes beside what it measured.
void add_evaluate_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_conform_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_bench_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);
void add_view_command(CLI::App& app, const OpenOptions& open_options, int count, const char* const* words);

// Standard output was closed by its reader (`headscope ... | head`): the program ends without a word, but not with 0.
class OutputClosed {};

// Writes to standard output at once. OutputClosed when nobody reads any more, Error when it cannot be written.
void write_output(std::string_view text);

// A line for people on standard error. News is not worth a failure: one that cannot be written is let go.
void tell(std::string_view line);

}  // namespace headscope
