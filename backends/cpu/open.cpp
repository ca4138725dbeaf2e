#include "backends/cpu/open.h"

#include <dnnl.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/processor.h"
#include "backends/cpu/thread_pool.h"
#include "support/check.h"

namespace headscope {

namespace {

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
    return "CPU";
}

std::uint64_t physical_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : 0;
}

std::string products_library() {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

const char* vector_instructions() {
#if defined(__x86_64__)
    return cpu::has_many_registers() ? "AVX-512" : cpu::has_avx2() ? "AVX2" : "SSE2";
#else
    return "those of the compiler's target";
#endif
}

DeviceInfo describe_machine() {
    DeviceInfo info;
    info.name = processor_name();
    info.memory_bytes = physical_memory();
    return info;
}

}  // namespace

CpuOptions cpu_options(const Settings& settings) {
    CpuOptions options;
    const std::string text = settings.get("HEADSCOPE_THREADS");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.threads);
    if (!text.empty() && (error != std::errc() || end != text.data() + text.size() || options.threads < 1 ||
                          options.threads > cpu::kMostThreads)) {
        throw Error("HEADSCOPE_THREADS is \"" + text + "\", expected a number from 1 to " +
                    std::to_string(cpu::kMostThreads));
    }
    return options;
}

DeviceInfo describe_cpu(const CpuOptions& options) {
    DeviceInfo info = describe_machine();
    info.id = "cpu";
    info.backend = "cpu";
    info.lends = true;
    info.driver = products_library();
    info.length_multiple = 1;
    info.trains_faster_in_bf16 = cpu::has_bf16_products();
    info.limits = {{"threads", std::to_string(cpu::thread_count(options.threads))}};
    info.features = {{"vector instructions", vector_instructions()},
                     {"BF16 products", cpu::has_bf16_products() ? "yes" : "no, operands are rounded first"}};
    return info;
}

std::unique_ptr<Backend> open_cpu(const CpuOptions& options) {
    return std::make_unique<cpu::CpuBackend>(describe_cpu(options), options.threads);
}

std::unique_ptr<Backend> open_cpu_oracle() {
    DeviceInfo info = describe_machine();
    info.id = "cpu:oracle";
    info.backend = "oracle";
    info.driver = "plain loops in double precision";
    info.limits = {{"threads", "1"}};
    return std::make_unique<CpuReference<double>>(std::move(info));
}

}  // namespace headscope
