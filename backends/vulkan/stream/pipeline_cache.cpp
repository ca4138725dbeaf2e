#include "backends/vulkan/stream/pipeline_cache.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

#include "backends/vulkan/device/cache_file.h"
#include "support/hash.h"

namespace headscope::vulkan {

namespace {

// Drivers trust the bytes after their own header, so our header has a checksum of them.
struct Header {
    std::array<char, 8> magic{};
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;
};
constexpr std::array<char, 8> kMagic{'H', 'S', 'V', 'K', 'P', 'C', '0', '1'};

std::uint64_t checksum(const std::byte* data, std::size_t bytes) {
    return fnv1a({reinterpret_cast<const char*>(data), bytes});
}

}  // namespace

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
    const Header header{kMagic, data.size(), checksum(data.data(), data.size())};
    std::string bytes(sizeof header + data.size(), '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, data.data(), data.size());
    return write_cache_file(path, bytes);
}

}  // namespace headscope::vulkan
