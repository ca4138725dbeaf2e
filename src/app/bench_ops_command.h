// headscope bench ops: how fast each op is, on several devices side by side.
#pragma once

#include <functional>

#include "app/bench_origin.h"

namespace CLI {
class App;
}

namespace headscope {

void add_bench_ops_command(CLI::App& bench, const std::function<BenchOrigin()>& origin);

}  // namespace headscope
