#include "backends/vulkan/device/cache_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "support/hash.h"

namespace headscope::vulkan {

std::string cache_file_path(const Capabilities& capabilities, const std::string& directory, const std::string& ending) {
    if (directory.empty()) {
        return "";
    }
    const VkPhysicalDeviceProperties& device = capabilities.properties;
    std::string id;
    for (const std::uint8_t byte : device.pipelineCacheUUID) {
        id += fmt::format("{:02x}", byte);
    }
    // A software driver may keep its numbers over versions; its version text changes. The subgroup size is included
    // because it decides what is fast.
    const std::uint64_t words = fnv1a(fmt::format("{} {}", capabilities.driver, capabilities.subgroup_size));
    return fmt::format("{}/vulkan-{:x}-{:x}-{:x}-{}-{:016x}.{}", directory, device.vendorID, device.deviceID,
                       device.driverVersion, id, words, ending);
}

bool write_cache_file(const std::string& path, std::string_view bytes) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    const std::string beside = fmt::format("{}.{}", path, getpid());
    bool written = false;
    {
        std::ofstream file(beside, std::ios::binary);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        file.flush();
        written = file.good();
    }
    if (written) {
        fs::rename(beside, path, error);
        written = !error;
    }
    if (!written) {
        fs::remove(beside, error);
    }
    return written;
}

}  // namespace headscope::vulkan
