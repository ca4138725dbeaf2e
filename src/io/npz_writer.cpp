#include "io/npz_writer.h"

#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include "io/npy_writer.h"
#include "support/check.h"

namespace headscope {

namespace {

template <class Number>
void append(std::string& to, Number value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

constexpr std::uint16_t kVersion = 20;  // of the zip format
constexpr std::uint16_t kStored = 0;
constexpr std::uint32_t kDate = 0x00210000;  // 1980-01-01, so that equal models give equal files

// What a local header and an entry of the directory have in common.
void append_common(std::string& to, std::uint32_t crc, std::uint32_t size, std::size_t name) {
    append(to, kVersion);
    append(to, std::uint16_t{0});  // flags
    append(to, kStored);
    append(to, kDate);
    append(to, crc);
    append(to, size);  // packed
    append(to, size);
    append(to, static_cast<std::uint16_t>(name));
    append(to, std::uint16_t{0});  // extra field
}

}  // namespace

void NpzWriter::add(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
    // Marian counts the commas of a shape.
    add_array(name, "<f4", fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : ""),
              {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

void NpzWriter::add_text(const std::string& name, const std::string& text) {
    add_array(name, "|i1", fmt::format("({},)", text.size() + 1), {text.c_str(), text.size() + 1});
}

void NpzWriter::add_array(const std::string& name, const char* type, const std::string& shape, std::string_view data) {
    std::string array = npy_header(type, shape);
    array += data;
    if (bytes_.size() + array.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw Error("the weights need more than 4 GiB, which the .npz format does not hold");
    }
    const std::string file = name + ".npy";
    Entry entry{file, 0, static_cast<std::uint32_t>(array.size()), static_cast<std::uint32_t>(bytes_.size())};
    entry.crc = static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(array.data()), static_cast<z_size_t>(array.size())));
    append(bytes_, std::uint32_t{0x04034b50});
    append_common(bytes_, entry.crc, entry.size, file.size());
    bytes_ += file;
    bytes_ += array;
    entries_.push_back(std::move(entry));
}

std::string NpzWriter::finished() const {
    std::string directory;
    for (const Entry& entry : entries_) {
        append(directory, std::uint32_t{0x02014b50});
        append(directory, kVersion);  // made by
        append_common(directory, entry.crc, entry.size, entry.name.size());
        append(directory, std::uint16_t{0});  // comment
        append(directory, std::uint16_t{0});  // disk
        append(directory, std::uint16_t{0});  // internal attributes
        append(directory, std::uint32_t{0});  // external attributes
        append(directory, entry.offset);
        directory += entry.name;
    }
    std::string end;
    append(end, std::uint32_t{0x06054b50});
    append(end, std::uint32_t{0});  // disks
    append(end, static_cast<std::uint16_t>(entries_.size()));
    append(end, static_cast<std::uint16_t>(entries_.size()));
    append(end, static_cast<std::uint32_t>(directory.size()));
    append(end, static_cast<std::uint32_t>(bytes_.size()));
    append(end, std::uint16_t{0});  // comment
    return bytes_ + directory + end;
}

}  // namespace headscope
