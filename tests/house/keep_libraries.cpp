// Linked into sanitized programs: never unloads a Vulkan driver. Leaks of an unloaded library are attributed to
// "<unknown module>", which leaks.txt cannot suppress.
#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace {

// The loader and its fake may be unloaded, since tests replace one with the other.
bool is_loader(void* library) {
    const link_map* map = nullptr;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
           (std::strstr(map->l_name, "libvulkan.so") != nullptr || std::strstr(map->l_name, "fake_vulkan") != nullptr);
}

}  // namespace

extern "C" int dlclose(void* library) {
    using Close = int (*)(void*);
    static const auto close = reinterpret_cast<Close>(dlsym(RTLD_NEXT, "dlclose"));
    return is_loader(library) ? close(library) : 0;
}
