// headscope bench all-reduce: what ranks exchange in a step of training.
#pragma once

#include "backend/open_options.h"

namespace CLI {
class App;
}

namespace headscope {

// `words`: of the command line.
void add_bench_all_reduce(CLI::App& bench, const OpenOptions& open_options, int count, const char* const* words);

}  // namespace headscope
