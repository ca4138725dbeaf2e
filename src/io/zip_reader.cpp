#include "io/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/byte_reader.h"
#include "support/check.h"
#include "support/utf8.h"

namespace headscope {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kZip64End = 0x06064b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kZip64LocatorBytes = 20;
constexpr std::size_t kLongestComment = 0xffff;
constexpr std::uint32_t kIn64 = 0xffffffff;    // the number is in a zip64 record
constexpr std::uint64_t kMostUnpacked = 1032;  // deflate's largest ratio
// Of a whole archive, beside the first 64 MiB. Weights shrink little; a bomb unpacks to a thousand times its size.
constexpr std::uint64_t kMostUnpackedInAll = 100;
constexpr std::uint64_t kAlwaysUnpacked = std::uint64_t{64} << 20U;

struct Directory {
    std::uint64_t entries = 0;
    std::uint64_t begin = 0;
};

[[noreturn]] void zip_error(const std::string& path, const std::string& problem) {
    throw Error(fmt::format("'{}' is not a valid zip archive: {}; fetch or write it again", path, problem));
}

Directory read_zip64_end(std::span<const std::byte> file, std::size_t locator_at, const std::string& path) {
    ByteReader locator(file, locator_at);
    if (locator.number<std::uint32_t>() != kZip64Locator) {
        zip_error(path, "its zip64 record is missing");
    }
    locator.take(4);
    ByteReader end(file, static_cast<std::size_t>(locator.number<std::uint64_t>()));
    if (end.number<std::uint32_t>() != kZip64End) {
        zip_error(path, "its zip64 record is not where it should be");
    }
    end.take(20 + 8);  // its size, versions, disks, entries on this disk
    Directory directory;
    directory.entries = end.number<std::uint64_t>();
    end.take(8);
    directory.begin = end.number<std::uint64_t>();
    return directory;
}

Directory find_directory(std::span<const std::byte> file, const std::string& path) {
    const std::size_t least = file.size() - std::min(file.size(), kEndBytes + kLongestComment);
    for (std::size_t at = file.size() - std::min(file.size(), kEndBytes) + 1; at-- > least;) {
        ByteReader end(file, at);
        if (file.size() - at < kEndBytes || end.number<std::uint32_t>() != kEnd) {
            continue;
        }
        const auto disk = end.number<std::uint16_t>();
        end.take(4);
        Directory directory;
        directory.entries = end.number<std::uint16_t>();
        const auto size = end.number<std::uint32_t>();
        directory.begin = end.number<std::uint32_t>();
        if (end.number<std::uint16_t>() != file.size() - at - kEndBytes) {
            continue;  // bytes of the comment that look like a record
        }
        if (disk != 0 && disk != 0xffff) {
            zip_error(path, "it is one of several parts");
        }
        const bool zip64 = directory.entries == 0xffff || size == kIn64 || directory.begin == kIn64;
        if (zip64 && at < kZip64LocatorBytes) {
            zip_error(path, "its zip64 record is missing");
        }
        return zip64 ? read_zip64_end(file, at - kZip64LocatorBytes, path) : directory;
    }
    zip_error(path, "it has no directory at its end: it is truncated");
}

// Replaces the numbers that did not fit in 32 bits.
void read_zip64_field(ByteReader extra, const std::array<std::uint64_t*, 3>& numbers) {
    for (;;) {
        const auto kind = extra.number<std::uint16_t>();
        ByteReader field(extra.take(extra.number<std::uint16_t>()));
        if (kind == 1) {
            for (std::uint64_t* number : numbers) {
                if (*number == kIn64) {
                    *number = field.number<std::uint64_t>();
                }
            }
            return;
        }
    }
}

ZipEntry read_entry(ByteReader& directory, std::span<const std::byte> file, const std::string& path) {
    if (directory.number<std::uint32_t>() != kCentralHeader) {
        zip_error(path, "its directory is damaged");
    }
    directory.take(4);
    const auto flags = directory.number<std::uint16_t>();
    const auto method = directory.number<std::uint16_t>();
    directory.take(4);
    ZipEntry entry;
    entry.crc = directory.number<std::uint32_t>();
    std::uint64_t packed = directory.number<std::uint32_t>();
    entry.size = directory.number<std::uint32_t>();
    const auto name_bytes = directory.number<std::uint16_t>();
    const auto extra_bytes = directory.number<std::uint16_t>();
    const auto comment_bytes = directory.number<std::uint16_t>();
    directory.take(8);
    std::uint64_t local_at = directory.number<std::uint32_t>();
    entry.name = directory.text(name_bytes);
    ByteReader extra(directory.take(extra_bytes));
    directory.take(comment_bytes);
    if (packed == kIn64 || entry.size == kIn64 || local_at == kIn64) {
        read_zip64_field(extra, {&entry.size, &packed, &local_at});
    }
    if (first_invalid_utf8(entry.name)) {
        zip_error(path, "an entry's name is not UTF-8");
    }
    if ((flags & 1U) != 0) {
        zip_error(path, fmt::format("the entry '{}' is encrypted", entry.name));
    }
    constexpr std::uint16_t kDeflated = 8;
    if (method != 0 && method != kDeflated) {
        zip_error(path, fmt::format("the entry '{}' has the compression method {}, expected 0 (stored) or 8 (deflate)",
                                    entry.name, method));
    }
    entry.deflated = method == kDeflated;
    if (entry.deflated ? entry.size / kMostUnpacked > packed : entry.size != packed) {
        zip_error(path, fmt::format("the entry '{}' claims {} bytes, packed in {}", entry.name, entry.size, packed));
    }
    ByteReader local(file, static_cast<std::size_t>(local_at));
    if (local.number<std::uint32_t>() != kLocalHeader) {
        zip_error(path, fmt::format("the entry '{}' is not where the directory says", entry.name));
    }
    local.take(22);
    const auto local_name_bytes = local.number<std::uint16_t>();
    local.take(local.number<std::uint16_t>() + std::uint64_t{local_name_bytes});
    entry.packed = local.take(packed);
    return entry;
}

void check_sizes(const std::vector<ZipEntry>& entries, std::size_t file_bytes, const std::string& path) {
    std::uint64_t rest = kAlwaysUnpacked + kMostUnpackedInAll * file_bytes;
    for (const ZipEntry& entry : entries) {
        if (entry.size > rest) {
            zip_error(path, fmt::format("the {} bytes claim to unpack to more than {} times as many", file_bytes,
                                        kMostUnpackedInAll));
        }
        rest -= entry.size;
    }
}

void check_apart(const std::vector<ZipEntry>& entries, const std::string& path) {
    std::vector<const ZipEntry*> ordered;
    for (const ZipEntry& entry : entries) {
        if (!entry.packed.empty()) {
            ordered.push_back(&entry);
        }
    }
    std::sort(ordered.begin(), ordered.end(),
              [](const ZipEntry* a, const ZipEntry* b) { return a->packed.data() < b->packed.data(); });
    for (std::size_t next = 1; next < ordered.size(); ++next) {
        const ZipEntry& before = *ordered[next - 1];
        if (before.packed.data() + before.packed.size() > ordered[next]->packed.data()) {
            zip_error(path, fmt::format("the entries '{}' and '{}' overlap", before.name, ordered[next]->name));
        }
    }
}

std::uint32_t checksum(std::span<const std::byte> bytes) {
    return static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));  // crc32 takes 32 bits of size
}

class Inflater {
public:
    Inflater() {
        if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) {
            throw Error("zlib: out of memory");
        }
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { ::inflateEnd(&stream_); }

    // Appends up to `count` bytes of the stream `packed`; the vector grows as they come, because a claimed size alone
    // must take no memory. Returns whether the stream is complete.
    bool append(std::vector<std::byte>& unpacked, std::span<const std::byte> packed, std::uint64_t count) {
        constexpr std::uint64_t kStep = std::uint64_t{1} << 24U;
        std::size_t have = 0;
        int code = Z_OK;
        while (code == Z_OK) {
            unpacked.resize(static_cast<std::size_t>(std::min(count, have + kStep)));
            const auto next = static_cast<uInt>(std::min<std::uint64_t>(packed.size(), kStep));
            const auto room = static_cast<uInt>(unpacked.size() - have);
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
            stream_.avail_in = next;
            stream_.next_out = reinterpret_cast<Bytef*>(unpacked.data() + have);
            stream_.avail_out = room;
            code = ::inflate(&stream_, Z_NO_FLUSH);  // Z_BUF_ERROR once the input or the room is used up
            packed = packed.subspan(next - stream_.avail_in);
            have += room - stream_.avail_out;
        }
        unpacked.resize(have);
        return code == Z_STREAM_END;
    }

private:
    z_stream stream_{};
};

std::vector<std::byte> inflated(const ZipEntry& entry, const std::string& path) {
    std::vector<std::byte> unpacked;
    if (!Inflater().append(unpacked, entry.packed, entry.size + 1) || unpacked.size() != entry.size) {
        zip_error(path,
                  fmt::format("the entry '{}' does not unpack to the {} bytes that it claims", entry.name, entry.size));
    }
    return unpacked;
}

HeldBytes held(std::vector<std::byte> bytes) {
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return {*owner, owner};
}

}  // namespace

bool ZipReader::is_zip(std::span<const std::byte> file) {
    return as_text(file).starts_with("PK\x03\x04");
}

ZipReader::ZipReader(std::string path, std::shared_ptr<const MappedFile> file)
    : path_(std::move(path)), file_(std::move(file)) {
    auto entries = std::make_shared<std::vector<ZipEntry>>();
    auto index = std::make_shared<std::unordered_map<std::string, std::size_t>>();
    try {
        const Directory found = find_directory(file_->bytes(), path_);
        ByteReader directory(file_->bytes(), static_cast<std::size_t>(found.begin));
        for (std::uint64_t number = 0; number < found.entries; ++number) {
            entries->push_back(read_entry(directory, file_->bytes(), path_));
            if (!index->emplace(entries->back().name, entries->size() - 1).second) {
                zip_error(path_, fmt::format("it has two entries '{}'", entries->back().name));
            }
        }
    } catch (const TruncatedError& error) {
        zip_error(path_, error.what());
    }
    check_apart(*entries, path_);
    check_sizes(*entries, file_->bytes().size(), path_);
    entries_ = std::move(entries);
    index_ = std::move(index);
}

const ZipEntry* ZipReader::find(const std::string& name) const {
    const auto found = index_->find(name);
    return found == index_->end() ? nullptr : &(*entries_)[found->second];
}

HeldBytes ZipReader::map(const ZipEntry& entry) const {
    return entry.deflated ? read(entry) : HeldBytes{entry.packed, file_};
}

HeldBytes ZipReader::read(const ZipEntry& entry) const {
    HeldBytes data = entry.deflated ? held(inflated(entry, path_)) : HeldBytes{entry.packed, file_};
    // PyTorch can leave checksums out (torch.serialization.set_crc32_options).
    if (entry.crc != 0 && checksum(data.bytes) != entry.crc) {
        zip_error(path_, fmt::format("the entry '{}' does not match its checksum: it is damaged", entry.name));
    }
    return data;
}

HeldBytes ZipReader::beginning(const ZipEntry& entry, std::size_t count) const {
    if (!entry.deflated) {
        return {entry.packed.first(std::min(count, entry.packed.size())), file_};
    }
    std::vector<std::byte> unpacked;
    Inflater().append(unpacked, entry.packed, std::min<std::uint64_t>(count, entry.size));
    return held(std::move(unpacked));
}

}  // namespace headscope
