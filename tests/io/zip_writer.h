// Zip archives for tests, valid unless told otherwise.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/proto_wire.h"
#include "support/check.h"

namespace headscope {

struct ZipPart {
    std::string name;
    std::string data;
    bool deflate = false;
    bool zip64 = false;  // sizes and offset in 64 bits
    // What the directory claims, where it is not the truth.
    std::uint64_t claimed_size = ~std::uint64_t{0};
    std::uint16_t flags = 0;
};

inline std::string raw_deflate(const std::string& data) {
    std::string packed(data.size() + data.size() / 1000 + 100, '\0');
    z_stream stream{};
    HEADSCOPE_CHECK(::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    HEADSCOPE_CHECK(::deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib");
    packed.resize(stream.total_out);
    ::deflateEnd(&stream);
    return packed;
}

inline std::uint32_t crc_of(const std::string& data) {
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

// The directory and its end, for entries at these offsets of the file.
inline std::string zip_directory(const std::vector<ZipPart>& parts, const std::vector<std::uint64_t>& packed,
                                 const std::vector<std::uint64_t>& offsets, std::uint64_t begin, bool zip64_end) {
    constexpr std::uint64_t kIn64 = 0xffffffff;
    std::string directory;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        const ZipPart& entry = parts[part];
        const std::uint64_t size = entry.claimed_size == ~std::uint64_t{0} ? entry.data.size() : entry.claimed_size;
        std::string extra;
        if (entry.zip64) {
            append_little_endian(extra, 1, 2);
            append_little_endian(extra, 24, 2);
            for (const std::uint64_t number : {size, packed[part], offsets[part]}) {
                append_little_endian(extra, number, 8);
            }
        }
        directory += "PK\x01\x02";
        append_little_endian(directory, 0, 4);
        append_little_endian(directory, entry.flags, 2);
        append_little_endian(directory, entry.deflate ? 8 : 0, 2);
        append_little_endian(directory, 0, 4);
        append_little_endian(directory, crc_of(entry.data), 4);
        append_little_endian(directory, entry.zip64 ? kIn64 : packed[part], 4);
        append_little_endian(directory, entry.zip64 ? kIn64 : size, 4);
        append_little_endian(directory, entry.name.size(), 2);
        append_little_endian(directory, extra.size(), 2);
        directory.append(10, '\0');
        append_little_endian(directory, entry.zip64 ? kIn64 : offsets[part], 4);
        directory += entry.name + extra;
    }
    const std::uint64_t bytes = directory.size();
    if (zip64_end) {
        const std::uint64_t end = begin + bytes;
        directory += "PK\x06\x06";
        append_little_endian(directory, 44, 8);
        directory.append(12, '\0');
        append_little_endian(directory, parts.size(), 8);
        append_little_endian(directory, parts.size(), 8);
        append_little_endian(directory, bytes, 8);
        append_little_endian(directory, begin, 8);
        directory += "PK\x06\x07";
        append_little_endian(directory, 0, 4);
        append_little_endian(directory, end, 8);
        append_little_endian(directory, 1, 4);
    }
    directory += "PK\x05\x06";
    append_little_endian(directory, 0, 4);
    append_little_endian(directory, parts.size(), 2);
    append_little_endian(directory, parts.size(), 2);
    append_little_endian(directory, zip64_end ? kIn64 : bytes, 4);
    append_little_endian(directory, zip64_end ? kIn64 : begin, 4);
    append_little_endian(directory, 0, 2);
    return directory;
}

inline std::string local_header(const ZipPart& part) {
    std::string header = "PK\x03\x04";
    header.append(22, '\0');
    append_little_endian(header, part.name.size(), 2);
    append_little_endian(header, 0, 2);
    return header + part.name;
}

inline std::string zip_of(const std::vector<ZipPart>& parts, bool zip64_end = false) {
    std::string file;
    std::vector<std::uint64_t> packed;
    std::vector<std::uint64_t> offsets;
    for (const ZipPart& part : parts) {
        offsets.push_back(file.size());
        const std::string data = part.deflate ? raw_deflate(part.data) : part.data;
        packed.push_back(data.size());
        file += local_header(part) + data;
    }
    return file + zip_directory(parts, packed, offsets, file.size(), zip64_end);
}

}  // namespace headscope
