#include "backends/vulkan/pipeline_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace headscope::vulkan {

namespace {

// Drivers trust the bytes behind their own header, so ours carries a checksum of them.
struct Header {
    std::array<char, 8> magic{};
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;
};
constexpr std::array<char, 8> kMagic{'H', 'S', 'V', 'K', 'P', 'C', '0', '1'};

// FNV-1a, 64 bits.
std::uint64_t checksum(const std::byte* data, std::size_t bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (std::size_t index = 0; index < bytes; ++index) {
        hash = (hash ^ static_cast<std::uint64_t>(data[index])) * 0x100000001b3ULL;
    }
    return hash;
}

}  // namespace

std::string pipeline_cache_path(const Capabilities& capabilities, const std::string& directory) {
    if (directory.empty()) {
        return "";
    }
    const VkPhysicalDeviceProperties& device = capabilities.properties;
    std::string id;
    for (const std::uint8_t byte : device.pipelineCacheUUID) {
        id += fmt::format("{:02x}", byte);
    }
    return fmt::format("{}/vulkan-{:x}-{:x}-{:x}-{}.pipelines", directory, device.vendorID, device.deviceID,
                       device.driverVersion, id);
}

std::vector<std::byte> read_pipeline_cache(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Header header;
    if (all.size() < sizeof header) {
        return {};
    }
    std::memcpy(&header, all.data(), sizeof header);
    const auto* data = reinterpret_cast<const std::byte*>(all.data()) + sizeof header;
    const std::size_t bytes = all.size() - sizeof header;
    if (header.magic != kMagic || header.bytes != bytes || header.checksum != checksum(data, bytes)) {
        return {};
    }
    return {data, data + bytes};
}

bool is_cache_of(const VkPhysicalDeviceProperties& device, const std::vector<std::byte>& data) {
    VkPipelineCacheHeaderVersionOne header{};
    if (data.size() < sizeof header) {
        return false;
    }
    std::memcpy(&header, data.data(), sizeof header);
    return header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == device.vendorID &&
           header.deviceID == device.deviceID &&
           std::memcmp(header.pipelineCacheUUID, device.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

bool write_pipeline_cache(const std::string& path, const std::vector<std::byte>& data) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    const std::string beside = fmt::format("{}.{}", path, getpid());
    const Header header{kMagic, data.size(), checksum(data.data(), data.size())};
    bool written = false;
    {
        std::ofstream file(beside, std::ios::binary);
        file.write(reinterpret_cast<const char*>(&header), sizeof header);
        file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
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
