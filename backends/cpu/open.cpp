#include "backends/cpu/open.h"

#include "backends/cpu/reference/reference.h"

namespace headscope {

DeviceInfo describe_cpu() {
    DeviceInfo info;
    info.id = "cpu";
    info.backend = "cpu";
    info.name = "CPU";
    return info;
}

std::unique_ptr<Backend> open_cpu(const CpuOptions& /*options*/) {
    return std::make_unique<CpuReference<float>>(describe_cpu());
}

std::unique_ptr<Backend> open_cpu_oracle() {
    DeviceInfo info = describe_cpu();
    info.id = "cpu:oracle";
    info.backend = "oracle";
    info.driver = "plain loops in double precision";
    return std::make_unique<CpuReference<double>>(std::move(info));
}

}  // namespace headscope
