#include "io/npy_writer.h"

#include <fstream>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

std::string npy_header(const std::string& type, const std::string& shape) {
    std::string array("\x93NUMPY\x01\x00", 8);
    std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
    constexpr std::size_t kAlignment = 64;
    const std::size_t before = array.size() + sizeof(std::uint16_t) + header.size() + 1;
    header.append((kAlignment - before % kAlignment) % kAlignment, ' ');
    header += '\n';
    const auto length = static_cast<std::uint16_t>(header.size());
    array.append(reinterpret_cast<const char*>(&length), sizeof(length));
    return array + header;
}

NpyRows::NpyRows(const std::string& path, std::int64_t columns) : file_(path), columns_(columns) {
    file_.write(header());
}

// As long for any number of rows: between 64 and 128 bytes without its padding.
std::string NpyRows::header() const {
    return npy_header("<f4", fmt::format("({}, {})", rows_, columns_));
}

void NpyRows::add(std::span<const float> values) {
    HEADSCOPE_CHECK(std::ssize(values) % columns_ == 0, "an array gets whole rows");
    file_.write(values.data(), values.size_bytes());
    rows_ += std::ssize(values) / columns_;
}

void NpyRows::commit() {
    std::fstream beginning(file_.temporary(), std::ios::binary | std::ios::in | std::ios::out);
    const std::string bytes = header();
    if (!beginning.write(bytes.data(), std::ssize(bytes)).flush()) {
        throw Error(fmt::format("{}: cannot write the number of its rows", file_.path()));
    }
    file_.commit();
}

}  // namespace headscope
