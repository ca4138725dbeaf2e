// The CPU as a device: threads and BLAS in float32, and the plain double-precision oracle with which everything is
// compared.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "support/settings.h"

namespace headscope {

struct CpuOptions {
    int threads = 0;  // 0: every core that this process may run on
};

// From HEADSCOPE_THREADS. Error for an invalid number.
CpuOptions cpu_options(const Settings& settings);

DeviceInfo describe_cpu(const CpuOptions& options = {});
std::unique_ptr<Backend> open_cpu(const CpuOptions& options = {});
std::unique_ptr<Backend> open_cpu_oracle();

}  // namespace headscope
