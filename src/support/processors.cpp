#include "support/processors.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

namespace headscope {

namespace {

int processors_of_affinity() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return std::max(1, CPU_COUNT(&set));
    }
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string quota_of_container() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    std::string quota;
    std::getline(file, quota);
    return quota;
}

}  // namespace

int processors_of_quota(const std::string& quota_and_period, int processors) {
    std::istringstream words(quota_and_period);
    double quota = 0;
    double period = 0;
    if (!(words >> quota >> period) || quota <= 0 || period <= 0) {
        return processors;  // "max", or a system without quotas
    }
    const double whole = std::ceil(quota / period);
    return whole < processors ? static_cast<int>(whole) : processors;
}

int processors() {
    static const std::string quota = quota_of_container();
    return processors_of_quota(quota, processors_of_affinity());
}

}  // namespace headscope
