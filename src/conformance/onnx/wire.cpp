#include "conformance/onnx/wire.h"

#include <cstring>

#include "support/check.h"

namespace headscope::conformance {

void WireReader::fail(const std::string& problem) const {
    throw Error(what_ + " is no file of ONNX's: " + problem);
}

std::uint64_t WireReader::read_varint(std::string_view& from) const {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(read(from, 1)[0]);
        value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    fail("a number of more than ten bytes");
}

std::string_view WireReader::read(std::string_view& from, std::uint64_t count) const {
    if (count > from.size()) {
        fail("it ends within a field; it may have been cut short");
    }
    const std::string_view taken = from.substr(0, count);
    from.remove_prefix(count);
    return taken;
}

bool WireReader::next() {
    pass_over();
    if (rest_.empty()) {
        return false;
    }
    const std::uint64_t key = read_varint(rest_);
    kind_ = static_cast<Kind>(key & 7U);
    if (kind_ != Kind::Varint && kind_ != Kind::Fixed64 && kind_ != Kind::Bytes && kind_ != Kind::Fixed32) {
        fail("a field of an unknown kind");
    }
    constexpr std::uint64_t kLargestField = (std::uint64_t{1} << 29U) - 1;
    if (key >> 3U == 0 || key >> 3U > kLargestField) {
        fail("a field of an impossible number");
    }
    field_ = static_cast<std::uint32_t>(key >> 3U);
    pending_ = true;
    return true;
}

void WireReader::pass_over() {
    if (!pending_) {
        return;
    }
    pending_ = false;
    switch (kind_) {
        case Kind::Varint: read_varint(rest_); break;
        case Kind::Fixed64: read(rest_, 8); break;
        case Kind::Bytes: read(rest_, read_varint(rest_)); break;
        case Kind::Fixed32: read(rest_, 4); break;
    }
}

void WireReader::require(Kind kind) {
    if (kind_ != kind) {
        fail("field " + std::to_string(field_) + " is of another kind than ONNX's");
    }
    pending_ = false;
}

std::uint64_t WireReader::varint() {
    require(Kind::Varint);
    return read_varint(rest_);
}

std::string_view WireReader::bytes() {
    require(Kind::Bytes);
    return read(rest_, read_varint(rest_));
}

std::string_view WireReader::fixed(Kind alone, std::size_t width) {
    if (kind_ == alone) {
        pending_ = false;
        return read(rest_, width);
    }
    const std::string_view packed = bytes();
    if (packed.size() % width != 0) {
        fail("packed numbers that are no whole ones");
    }
    return packed;
}

float WireReader::float32() {
    require(Kind::Fixed32);
    float value = 0.0F;
    std::memcpy(&value, read(rest_, sizeof value).data(), sizeof value);
    return value;
}

void WireReader::append_varints(std::vector<std::int64_t>& to) {
    if (kind_ == Kind::Varint) {
        to.push_back(static_cast<std::int64_t>(varint()));
        return;
    }
    for (std::string_view packed = bytes(); !packed.empty();) {
        to.push_back(static_cast<std::int64_t>(read_varint(packed)));
    }
}

void WireReader::append_floats(std::vector<double>& to) {
    const std::string_view all = fixed(Kind::Fixed32, sizeof(float));
    for (std::size_t at = 0; at < all.size(); at += sizeof(float)) {
        float value = 0.0F;
        std::memcpy(&value, all.data() + at, sizeof value);
        to.push_back(static_cast<double>(value));
    }
}

void WireReader::append_doubles(std::vector<double>& to) {
    const std::string_view all = fixed(Kind::Fixed64, sizeof(double));
    for (std::size_t at = 0; at < all.size(); at += sizeof(double)) {
        double value = 0.0;
        std::memcpy(&value, all.data() + at, sizeof value);
        to.push_back(value);
    }
}

}  // namespace headscope::conformance
