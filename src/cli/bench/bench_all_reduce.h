// headscope bench all-reduce: what ranks exchange in a step of training.
#pragma once

#include <functional>

#include "backend/open_options.h"
#include "cli/result_origin.h"

namespace CLI {
class App;
}

namespace headscope {

void add_bench_all_reduce(CLI::App& bench, const OpenOptions& open_options, const std::function<ResultOrigin()>& origin,
                          int count, const char* const* words);

}  // namespace headscope
