// The CPU as a device: threads and BLAS in float32, and the plain double-precision oracle that everything is held
// against.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace headscope {

struct CpuOptions {
    int threads = 0;  // 0: HEADSCOPE_THREADS where set, else every core this process may run on
};

DeviceInfo describe_cpu();
std::unique_ptr<Backend> open_cpu(const CpuOptions& options = {});
std::unique_ptr<Backend> open_cpu_oracle();

}  // namespace headscope
