// Zip archives: stored and deflated entries, zip64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/mapped_file.h"
#include "io/tensor_archive.h"

namespace headscope {

struct ZipEntry {
    std::string name;
    bool deflated = false;
    std::uint32_t crc = 0;
    std::uint64_t size = 0;             // unpacked
    std::span<const std::byte> packed;  // as in the file
};

// Copies are cheap and share the mapping.
class ZipReader {
public:
    // Whether a file with these bytes begins as a zip archive does.
    static bool is_zip(std::span<const std::byte> file);

    // Error that names the file for damage of its directory, entries that overlap or have the same name, encryption,
    // other compression, several disks, and entries that claim to unpack to more than deflate can.
    ZipReader(std::string path, std::shared_ptr<const MappedFile> file);

    const std::vector<ZipEntry>& entries() const { return *entries_; }
    const ZipEntry* find(const std::string& name) const;  // null if missing

    // The unpacked data. Error for a damaged stream and for a wrong checksum. Stored entries are not copied.
    HeldBytes read(const ZipEntry& entry) const;
    // The same, but the checksum of a stored entry is not computed: no page is read.
    HeldBytes map(const ZipEntry& entry) const;
    // At most the first `count` bytes, without a checksum.
    HeldBytes beginning(const ZipEntry& entry, std::size_t count) const;

private:
    std::string path_;
    std::shared_ptr<const MappedFile> file_;
    std::shared_ptr<const std::vector<ZipEntry>> entries_;
    std::shared_ptr<const std::unordered_map<std::string, std::size_t>> index_;
};

}  // namespace headscope
