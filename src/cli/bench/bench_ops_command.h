// headscope bench ops: measures the speed of each op on several devices.
#pragma once

#include <functional>

#include "backend/open_options.h"
#include "cli/bench/bench_runs.h"
#include "cli/result_origin.h"
#include "conformance/family.h"

namespace CLI {
class App;
}

namespace headscope {

// The ops of this model and batch, and square matrix products of 512 to 4096.
conformance::Workload workload_of(const BenchShape& shape);

void add_bench_ops_command(CLI::App& bench, const OpenOptions& open_options,
                           const std::function<ResultOrigin()>& origin);

}  // namespace headscope
