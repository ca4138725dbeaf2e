#include "backends/cpu/processor.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace headscope::cpu {

#if defined(__x86_64__)

namespace {

#if defined(HEADSCOPE_CPU_AT_MOST_AVX2)
constexpr bool kMayUseAvx512 = false;
#else
constexpr bool kMayUseAvx512 = true;
#endif

#if defined(__linux__)
bool processor_has_tiles() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned kTileBit = 1U << 24U;
    constexpr unsigned kInt8Bit = 1U << 25U;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTileBit) != 0 && (d & kInt8Bit) != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0;
}

// Linux needs eight KiB more for each thread from here on, and requires this request.
bool kernel_grants_tiles() {
    constexpr long kRequestPermission = 0x1023;
    constexpr long kTileData = 18;
    return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#else
bool processor_has_tiles() {
    return false;
}
bool kernel_grants_tiles() {
    return false;
}
#endif

}  // namespace

bool has_avx2() {
    return __builtin_cpu_supports("avx2") != 0;
}

bool has_many_registers() {
    return kMayUseAvx512 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

bool has_vnni() {
    static const bool has = has_many_registers() && __builtin_cpu_supports("avx512vnni") != 0;
    return has;
}

bool has_bf16_products() {
    return kMayUseAvx512 && __builtin_cpu_supports("avx512bf16") != 0;
}

bool has_tiles() {
    static const bool has = kMayUseAvx512 && processor_has_tiles() && kernel_grants_tiles();
    return has;
}

#else

bool has_avx2() {
    return false;
}

bool has_many_registers() {
    return true;
}

bool has_vnni() {
    return false;
}

bool has_bf16_products() {
    return false;
}

bool has_tiles() {
    return false;
}

#endif

}  // namespace headscope::cpu
