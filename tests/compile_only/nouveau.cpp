// NVIDIA's ioctls (nouveau) before Mesa's nvk compiles.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "kernel_driver.h"

namespace headscope::compile_only {

namespace {

// Numbers and layouts of the kernel's interface to user space (nouveau_drm.h of Linux 6.6, which is not C++, and
// nvif/ioctl.h).
constexpr std::uint32_t kGetParameter = 0x00;
constexpr std::uint32_t kAllocateChannel = 0x02;
constexpr std::uint32_t kFreeChannel = 0x03;
constexpr std::uint32_t kNvif = 0x07;
constexpr std::uint32_t kVmInit = 0x10;
constexpr std::uint32_t kVmBind = 0x11;
constexpr std::uint32_t kExecute = 0x12;
constexpr std::uint32_t kNewBuffer = 0x40;
constexpr std::uint32_t kPush = 0x41;
constexpr std::uint32_t kBeginHost = 0x42;
constexpr std::uint32_t kEndHost = 0x43;

struct Parameter {
    std::uint64_t number;
    std::uint64_t value;
};
constexpr std::uint64_t kVendor = 3;
constexpr std::uint64_t kDevice = 4;
constexpr std::uint64_t kChipset = 11;
constexpr std::uint64_t kUnits = 13;
constexpr std::uint64_t kTime = 14;
constexpr std::uint64_t kExecPushMost = 17;
constexpr std::uint64_t kBarBytes = 18;
constexpr std::uint64_t kMemoryUsed = 19;

struct Buffer {
    std::uint32_t handle;
    std::uint32_t domain;
    std::uint64_t bytes;
    std::uint64_t offset;
    std::uint64_t mapping;
};

struct Nvif {
    std::uint8_t version;
    std::uint8_t type;
    std::array<std::uint8_t, 4> unused;
    std::uint8_t owner;
    std::uint8_t route;
    std::uint64_t token;
    std::uint64_t object;
};
constexpr std::uint8_t kListClasses = 0x01;
constexpr std::uint8_t kCallMethod = 0x04;

struct Class {
    std::int32_t number;
    std::int16_t least;
    std::int16_t most;
};
struct Classes {
    std::uint8_t version;
    std::uint8_t count;
    std::array<std::uint8_t, 6> unused;
};

struct Method {
    std::uint8_t version;
    std::uint8_t number;
    std::array<std::uint8_t, 6> unused;
};
struct Info {
    std::uint8_t version;
    std::uint8_t platform;
    std::uint16_t chipset;
    std::uint8_t revision;
    std::uint8_t family;
    std::array<std::uint8_t, 2> unused;
    std::uint64_t bytes;
    std::uint64_t user_bytes;
    std::array<char, 16> chip;
    std::array<char, 64> name;
};
constexpr std::uint8_t kPciExpress = 3;

// Classes of copies, 2D, 3D, memory and compute, by the chipset's generation.
std::array<std::int32_t, 5> classes_of(std::uint32_t chipset) {
    switch (chipset >> 4U) {
        case 0x13: return {0xc0b5, 0x902d, 0xc197, 0xa140, 0xc1c0};  // Pascal
        case 0x14: return {0xc3b5, 0x902d, 0xc397, 0xa140, 0xc3c0};  // Volta
        case 0x16: return {0xc5b5, 0x902d, 0xc597, 0xa140, 0xc5c0};  // Turing
        case 0x17: return {0xc7b5, 0x902d, 0xc797, 0xa140, 0xc7c0};  // Ampere
        default: return {0xc7b5, 0x902d, 0xc997, 0xa140, 0xc9c0};    // Ada
    }
}

void list_classes(Classes& to) {
    const auto numbers = classes_of(gpu().chipset);
    auto* list = reinterpret_cast<Class*>(&to + 1);
    for (std::size_t index = 0; index < numbers.size() && index < to.count; ++index) {
        list[index] = {numbers[index], -1, -1};
    }
    to.count = static_cast<std::uint8_t>(numbers.size());
}

int nvif(Nvif& asked) {
    if (asked.type == kListClasses) {
        list_classes(*reinterpret_cast<Classes*>(&asked + 1));
    } else if (asked.type == kCallMethod && reinterpret_cast<Method*>(&asked + 1)->number == 0) {
        auto& info = *reinterpret_cast<Info*>(reinterpret_cast<Method*>(&asked + 1) + 1);
        info.platform = kPciExpress;
        info.chipset = static_cast<std::uint16_t>(gpu().chipset);
        info.bytes = info.user_bytes = kGpuMemory;
    }
    return 0;
}

int parameter(Parameter& asked) {
    constexpr std::uint64_t kClustersOfThree = 0x0e03;
    static const std::map<std::uint64_t, std::uint64_t> kKnown{{kVendor, gpu().vendor},
                                                               {kDevice, gpu().device},
                                                               {kChipset, gpu().chipset},
                                                               {kUnits, kClustersOfThree},
                                                               {kTime, 0},
                                                               {kExecPushMost, 512},
                                                               {kBarBytes, kGpuMemory},
                                                               {kMemoryUsed, 1U << 20U}};
    const auto found = kKnown.find(asked.number);
    if (found == kKnown.end()) {
        return unknown("parameter", asked.number);
    }
    asked.value = found->second;
    return 0;
}

}  // namespace

int nouveau(int fd, std::uint32_t number, void* arg) {
    switch (number) {
        case kNvif: return nvif(*static_cast<Nvif*>(arg));
        case kGetParameter: return parameter(*static_cast<Parameter*>(arg));
        case kNewBuffer: {
            auto& asked = *static_cast<Buffer*>(arg);
            const GpuBuffer made = make_buffer(fd, asked.bytes);
            asked.handle = made.handle;
            asked.offset = asked.mapping = made.offset;
            return 0;
        }
        case kAllocateChannel:
        case kFreeChannel:
        case kPush:
        case kBeginHost:
        case kEndHost:
        case kVmInit:
        case kVmBind:
        case kExecute: return 0;
        default: return unknown("ioctl of its own", number);
    }
}

}  // namespace headscope::compile_only
