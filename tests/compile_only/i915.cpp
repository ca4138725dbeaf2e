// Intel's ioctls before Mesa's anv compiles. One slice of six subslices with sixteen units, on which no kernel's code
// depends.
#include <drm.h>
#include <i915_drm.h>

#include <cerrno>
#include <span>
#include <vector>

#include "kernel_driver.h"

namespace headscope::compile_only {

namespace {

constexpr std::uint64_t kAddresses = std::uint64_t{1} << 48U;
constexpr std::uint8_t kSubslices = 6;
constexpr std::uint8_t kUnitBytes = 2;  // a bit for each unit of a subslice

int parameter(const drm_i915_getparam& asked) {
    switch (asked.param) {
        case I915_PARAM_CHIPSET_ID: *asked.value = static_cast<int>(gpu().device); return 0;
        case I915_PARAM_REVISION: *asked.value = 0; return 0;
        case I915_PARAM_CS_TIMESTAMP_FREQUENCY: *asked.value = 12'000'000; return 0;
        case I915_PARAM_MMAP_GTT_VERSION: *asked.value = 4; return 0;  // offsets into the node
        default: *asked.value = 1; return 0;                           // supported
    }
}

// The first call asks for the length of an answer, the second for the answer.
void answer(drm_i915_query_item& asked, std::span<const std::byte> with) {
    if (asked.length != 0) {
        std::memcpy(reinterpret_cast<void*>(asked.data_ptr), with.data(), with.size());
    }
    asked.length = static_cast<std::int32_t>(with.size());
}

template <class Head, class Item>
std::vector<std::byte> bytes_of(const Head& head, const std::vector<Item>& items) {
    std::vector<std::byte> bytes(sizeof head + items.size() * sizeof(Item));
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, items.data(), items.size() * sizeof(Item));
    return bytes;
}

std::vector<std::byte> topology() {
    drm_i915_query_topology_info head{};
    head.max_slices = 1;
    head.max_subslices = kSubslices;
    head.max_eus_per_subslice = 8 * kUnitBytes;
    head.subslice_offset = head.subslice_stride = 1;
    head.eu_offset = 2;
    head.eu_stride = kUnitBytes;
    std::vector<std::uint8_t> bits(2 + kSubslices * kUnitBytes, 0xff);
    bits[0] = 1;
    bits[1] = (1U << kSubslices) - 1;
    return bytes_of(head, bits);
}

std::vector<std::byte> engines() {
    std::vector<drm_i915_engine_info> list(2);
    list[0].engine.engine_class = I915_ENGINE_CLASS_RENDER;
    list[1].engine.engine_class = I915_ENGINE_CLASS_COPY;
    drm_i915_query_engine_info head{};
    head.num_engines = static_cast<std::uint32_t>(list.size());
    return bytes_of(head, list);
}

std::vector<std::byte> regions() {
    std::vector<drm_i915_memory_region_info> list(2);
    list[0].region.memory_class = I915_MEMORY_CLASS_SYSTEM;
    list[1].region.memory_class = I915_MEMORY_CLASS_DEVICE;
    for (drm_i915_memory_region_info& each : list) {
        each.probed_size = each.unallocated_size = kGpuMemory;
        each.probed_cpu_visible_size = each.unallocated_cpu_visible_size = kGpuMemory;
    }
    drm_i915_query_memory_regions head{};
    head.num_regions = static_cast<std::uint32_t>(list.size());
    return bytes_of(head, list);
}

void query(drm_i915_query_item& asked) {
    switch (asked.query_id) {
        case DRM_I915_QUERY_TOPOLOGY_INFO:
        case DRM_I915_QUERY_GEOMETRY_SUBSLICES: return answer(asked, topology());
        case DRM_I915_QUERY_ENGINE_INFO: return answer(asked, engines());
        case DRM_I915_QUERY_MEMORY_REGIONS: return answer(asked, regions());
        default: unknown("query", asked.query_id); asked.length = -EINVAL;
    }
}

}  // namespace

int i915(int fd, std::uint32_t number, void* arg) {
    switch (number) {
        case DRM_I915_GETPARAM: return parameter(*static_cast<const drm_i915_getparam*>(arg));
        case DRM_I915_QUERY: {
            const auto& asked = *static_cast<const drm_i915_query*>(arg);
            for (auto& each : std::span(reinterpret_cast<drm_i915_query_item*>(asked.items_ptr), asked.num_items)) {
                query(each);
            }
            return 0;
        }
        case DRM_I915_GEM_CREATE: {
            auto& made = *static_cast<drm_i915_gem_create*>(arg);
            made.handle = make_buffer(fd, made.size).handle;
            return 0;
        }
        case DRM_I915_GEM_CREATE_EXT: {
            auto& made = *static_cast<drm_i915_gem_create_ext*>(arg);
            made.handle = make_buffer(fd, made.size).handle;
            return 0;
        }
        case DRM_I915_GEM_USERPTR: {
            auto& made = *static_cast<drm_i915_gem_userptr*>(arg);
            made.handle = make_buffer(fd, made.user_size).handle;
            return 0;
        }
        case DRM_I915_GEM_MMAP_GTT: {
            auto& asked = *static_cast<drm_i915_gem_mmap_offset*>(arg);
            asked.offset = offset_of(asked.handle);
            return 0;
        }
        case DRM_I915_GEM_CONTEXT_CREATE: static_cast<drm_i915_gem_context_create*>(arg)->ctx_id = 1; return 0;
        case DRM_I915_GEM_CONTEXT_GETPARAM: {
            auto& asked = *static_cast<drm_i915_gem_context_param*>(arg);
            asked.value = asked.param == I915_CONTEXT_PARAM_GTT_SIZE ? kAddresses : 1;
            return 0;
        }
        case DRM_I915_GEM_GET_APERTURE: {
            auto& asked = *static_cast<drm_i915_gem_get_aperture*>(arg);
            asked.aper_size = asked.aper_available_size = kAddresses;
            return 0;
        }
        case DRM_I915_GEM_VM_CREATE: static_cast<drm_i915_gem_vm_control*>(arg)->vm_id = 1; return 0;
        case DRM_I915_GEM_CONTEXT_DESTROY:
        case DRM_I915_GEM_CONTEXT_SETPARAM:
        case DRM_I915_GEM_EXECBUFFER2:
        case DRM_I915_REG_READ:
        case DRM_I915_GEM_SET_DOMAIN:
        case DRM_I915_GEM_SET_CACHING:
        case DRM_I915_GEM_SET_TILING:
        case DRM_I915_GEM_GET_TILING:
        case DRM_I915_GEM_MADVISE:
        case DRM_I915_GEM_WAIT:
        case DRM_I915_GEM_BUSY:
        case DRM_I915_GEM_VM_DESTROY:
        case DRM_I915_GET_RESET_STATS: return 0;
        default: return unknown("ioctl of its own", number);
    }
}

}  // namespace headscope::compile_only
