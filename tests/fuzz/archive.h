// Checks of an archive of tensors that was opened from any bytes.
#pragma once

#include <numeric>
#include <string>

#include "io/tensor_archive.h"
#include "tests/fuzz/fuzz.h"

namespace headscope {

// Opens the bytes and reads every tensor to its last byte. Rejections are right answers; objects that are not UTF-8 and
// tensors of another size than their shape are finds.
inline void read_archive(const std::string& bytes, TensorArchive (*open)(const std::string&)) {
    const MemoryFile file(bytes);
    run_or_refuse([&] {
        const TensorArchive archive = open(file.path());
        archive.objects().dump();
        for (const std::string& name : archive.names()) {
            run_or_refuse([&] {
                const ArchiveTensor tensor = archive.at(name);
                HEADSCOPE_CHECK(
                    static_cast<std::size_t>(tensor.shape.elements()) * size_of(tensor.dtype) == tensor.data.size(),
                    "a shape that does not fit its data");
                const unsigned sum = std::accumulate(
                    tensor.data.begin(), tensor.data.end(), 0U,
                    [](unsigned total, std::byte byte) { return total + std::to_integer<unsigned>(byte); });
                HEADSCOPE_CHECK(sum <= 255 * tensor.data.size(), "bytes that cannot be");
            });
        }
    });
}

// The same zip archive without checksums, so that changed data is read all the same.
inline std::string without_checksums(std::string bytes) {
    constexpr std::size_t kChecksum = 16;
    for (std::size_t at = bytes.find("PK\x01\x02"); at != std::string::npos; at = bytes.find("PK\x01\x02", at + 4)) {
        for (std::size_t byte = at + kChecksum; byte < at + kChecksum + 4 && byte < bytes.size(); ++byte) {
            bytes[byte] = '\0';
        }
    }
    return bytes;
}

}  // namespace headscope
