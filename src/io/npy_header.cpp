#include "io/npy_header.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "io/byte_reader.h"
#include "support/check.h"

namespace headscope {

namespace {

[[noreturn]] void npy_error(const std::string& problem) {
    throw Error("it is not a valid array of numpy: " + problem);
}

// A Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderText {
public:
    explicit HeaderText(std::string_view text) : rest_(text) {}

    bool take(std::string_view token) {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
        if (!rest_.starts_with(token)) {
            return false;
        }
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) {
            npy_error(fmt::format("its header lacks \"{}\"", token));
        }
    }
    std::string quoted() {
        expect("'");
        const std::size_t end = rest_.find('\'');
        if (end == std::string_view::npos) {
            npy_error("its header has an open quote");
        }
        const std::string text(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return text;
    }
    bool boolean() {
        if (take("True")) {
            return true;
        }
        expect("False");
        return false;
    }
    std::vector<std::int64_t> tuple() {
        expect("(");
        std::vector<std::int64_t> numbers;
        while (!take(")")) {
            std::int64_t number = 0;
            take("");  // spaces
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
            if (error != std::errc() || number < 0) {
                npy_error("its shape is not a tuple of sizes");
            }
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            take("L");  // a long of Python 2
            numbers.push_back(number);
            if (!take(",")) {
                expect(")");
                break;
            }
        }
        return numbers;
    }

private:
    std::string_view rest_;
};

void set_type(NpyHeader& header, const std::string& descr) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTypes{{{"f8", "F64"},
                                                                                           {"f4", "F32"},
                                                                                           {"f2", "F16"},
                                                                                           {"i1", "I8"},
                                                                                           {"i2", "I16"},
                                                                                           {"i4", "I32"},
                                                                                           {"i8", "I64"},
                                                                                           {"u1", "U8"},
                                                                                           {"u2", "U16"},
                                                                                           {"u4", "U32"},
                                                                                           {"u8", "U64"},
                                                                                           {"b1", "BOOL"}}};
    header.dtype = descr;
    header.big_endian = descr.starts_with('>');
    for (const auto& [numpy, ours] : kTypes) {
        if (descr.size() == 3 && descr.substr(1) == numpy) {
            header.dtype = ours;
        }
    }
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file) {
    ByteReader reader(file);
    if (reader.text(6) != "\x93NUMPY") {
        npy_error("it does not begin with \"\\x93NUMPY\"");
    }
    const auto version = reader.number<std::uint8_t>();
    reader.take(1);
    if (version < 1 || version > 3) {
        npy_error(fmt::format("its format is {}, expected 1 to 3", version));
    }
    const std::size_t length = version == 1 ? reader.number<std::uint16_t>() : reader.number<std::uint32_t>();
    HeaderText text(reader.text(length));
    NpyHeader header;
    header.data_begin = reader.position();
    std::set<std::string> keys;
    text.expect("{");
    while (!text.take("}")) {
        const std::string key = text.quoted();
        text.expect(":");
        if (key == "descr") {
            if (text.take("[")) {
                npy_error("it holds records, expected numbers");
            }
            set_type(header, text.quoted());
        } else if (key == "fortran_order") {
            header.fortran_order = text.boolean();
        } else if (key == "shape") {
            header.shape = text.tuple();
        } else {
            npy_error(fmt::format("its header has the unknown key '{}'", key));
        }
        keys.insert(key);
        if (!text.take(",")) {
            text.expect("}");
            break;
        }
    }
    if (keys.size() != 3) {
        npy_error("its header lacks a key: it needs descr, fortran_order and shape");
    }
    return header;
}

}  // namespace headscope
