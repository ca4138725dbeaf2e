#include "kernel_driver.h"

#include <dlfcn.h>
#include <drm.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "stand_in.h"

namespace headscope::compile_only {

namespace {

constexpr std::uint32_t kIntel = 0x8086;

// The file posing as the device's node.
struct Node {
    const char* path = nullptr;
    struct stat status {};

    bool is_open_as(int fd) const {
        struct stat other {};
        return path != nullptr && fstat(fd, &other) == 0 && other.st_ino == status.st_ino &&
               other.st_dev == status.st_dev;
    }
};

const Node& node() {
    static const Node kNode = [] {
        Node made;
        if (gpu().vendor != 0) {
            made.path = required_variable("HEADSCOPE_GPU_NODE");
            if (stat(made.path, &made.status) != 0) {
                fail("HEADSCOPE_GPU_NODE names no file");
            }
        }
        return made;
    }();
    return kNode;
}

std::mutex buffers_mutex;
std::map<std::uint32_t, std::uint64_t> offsets;
std::uint64_t node_bytes = 1U << 16U;

const char* driver_name() {
    return gpu().vendor == kIntel ? "i915" : "nouveau";
}

int version(drm_version& to) {
    const std::size_t length = std::strlen(driver_name());
    if (to.name != nullptr) {
        std::memcpy(to.name, driver_name(), std::min(length, to.name_len));
    }
    to.name_len = length;
    to.date_len = to.desc_len = 0;
    to.version_major = 1;
    to.version_minor = 6;
    to.version_patchlevel = 0;
    return 0;
}

// Ioctls common to all drivers.
int common(std::uint32_t number, void* arg) {
    switch (number) {
        case _IOC_NR(DRM_IOCTL_VERSION): return version(*static_cast<drm_version*>(arg));
        case _IOC_NR(DRM_IOCTL_GET_CAP): static_cast<drm_get_cap*>(arg)->value = 1; return 0;
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_CREATE): static_cast<drm_syncobj_create*>(arg)->handle = 1; return 0;
        case _IOC_NR(DRM_IOCTL_GEM_CLOSE):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_DESTROY):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_QUERY):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_TRANSFER):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL): return 0;
        default: return unknown("ioctl", number);
    }
}

// In libdrm's form; freed in one piece.
drmDevicePtr description() {
    struct Whole {
        drmDevice device;
        drmPciBusInfo bus;
        drmPciDeviceInfo info;
        std::array<char*, DRM_NODE_MAX> nodes;
        std::array<char, 1> none;
    };
    static_assert(offsetof(Whole, device) == 0);
    auto* whole = static_cast<Whole*>(std::calloc(1, sizeof(Whole)));
    if (whole == nullptr) {
        fail("no memory");
    }
    whole->nodes.fill(whole->none.data());
    whole->nodes[DRM_NODE_RENDER] = const_cast<char*>(node().path);
    whole->device.nodes = whole->nodes.data();
    whole->device.available_nodes = 1U << static_cast<unsigned>(DRM_NODE_RENDER);
    whole->device.bustype = DRM_BUS_PCI;
    whole->device.businfo.pci = &whole->bus;
    whole->device.deviceinfo.pci = &whole->info;
    whole->info.vendor_id = static_cast<std::uint16_t>(gpu().vendor);
    whole->info.device_id = static_cast<std::uint16_t>(gpu().device);
    return &whole->device;
}

}  // namespace

const Gpu& gpu() {
    static const Gpu kGpu = [] {
        Gpu made;
        const char* ids = std::getenv("HEADSCOPE_GPU");
        if (ids != nullptr && std::sscanf(ids, "%x:%x:%x", &made.vendor, &made.device, &made.chipset) < 2) {
            fail("HEADSCOPE_GPU is no VENDOR:DEVICE[:CHIPSET]");
        }
        return made;
    }();
    return kGpu;
}

GpuBuffer make_buffer(int fd, std::uint64_t bytes) {
    constexpr std::uint64_t kAlignment = 1U << 16U;
    const std::lock_guard<std::mutex> lock(buffers_mutex);
    const GpuBuffer made{static_cast<std::uint32_t>(offsets.size() + 1), node_bytes};
    node_bytes += (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    if (ftruncate(fd, static_cast<off_t>(node_bytes)) != 0) {
        fail("the file HEADSCOPE_GPU_NODE cannot grow");
    }
    offsets[made.handle] = made.offset;
    return made;
}

std::uint64_t offset_of(std::uint32_t handle) {
    const std::lock_guard<std::mutex> lock(buffers_mutex);
    return offsets[handle];
}

int unknown(const char* kind, std::uint64_t number) {
    if (std::getenv("HEADSCOPE_GPU_LOG") != nullptr) {
        std::fprintf(stderr, "compile_only: %s has no %s %llu\n", driver_name(), kind,
                     static_cast<unsigned long long>(number));
    }
    errno = EINVAL;
    return -1;
}

}  // namespace headscope::compile_only

// Replaces functions of the C library and libdrm.
extern "C" {

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...) noexcept {
    using namespace headscope::compile_only;
    va_list rest;
    va_start(rest, request);
    void* arg = va_arg(rest, void*);
    va_end(rest);
    if (!node().is_open_as(fd)) {
        static const auto kOwn = reinterpret_cast<int (*)(int, unsigned long, void*)>(dlsym(RTLD_NEXT, "ioctl"));
        return kOwn(fd, request, arg);
    }
    const std::uint32_t number = _IOC_NR(request);
    if (number < DRM_COMMAND_BASE || number >= DRM_COMMAND_END) {
        return common(number, arg);
    }
    return (gpu().vendor == kIntel ? i915 : nouveau)(fd, number - DRM_COMMAND_BASE, arg);
}

__attribute__((visibility("default"))) int drmGetDevices2(std::uint32_t, drmDevicePtr devices[], int count) {
    using namespace headscope::compile_only;
    if (gpu().vendor == 0) {
        return 0;
    }
    if (devices != nullptr && count > 0) {
        devices[0] = description();
    }
    return 1;
}

__attribute__((visibility("default"))) int drmGetDevice2(int, std::uint32_t flags, drmDevicePtr* device) {
    return drmGetDevices2(flags, device, 1) == 1 ? 0 : -ENODEV;
}

__attribute__((visibility("default"))) int drmGetDeviceFromDevId(dev_t, std::uint32_t flags, drmDevicePtr* device) {
    return drmGetDevices2(flags, device, 1) == 1 ? 0 : -ENODEV;
}

__attribute__((visibility("default"))) void drmFreeDevice(drmDevicePtr* device) {
    std::free(*device);
    *device = nullptr;
}

__attribute__((visibility("default"))) void drmFreeDevices(drmDevicePtr devices[], int count) {
    for (int index = 0; index < count; ++index) {
        drmFreeDevice(&devices[index]);
    }
}
}
