#include "io/proto_wire.h"

#include <bit>
#include <cstring>

namespace headscope {

namespace {

std::string_view take(std::string_view& from, std::uint64_t count) {
    if (count > from.size()) {
        throw WireError("it ends within a field: it is truncated or damaged");
    }
    const std::string_view taken = from.substr(0, static_cast<std::size_t>(count));
    from.remove_prefix(static_cast<std::size_t>(count));
    return taken;
}

std::uint64_t take_varint(std::string_view& from) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(take(from, 1)[0]);
        value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    throw WireError("a number of more than ten bytes");
}

}  // namespace

bool WireReader::next() {
    skip();
    if (rest_.empty()) {
        return false;
    }
    const std::uint64_t key = take_varint(rest_);
    kind_ = static_cast<WireKind>(key & 7U);
    if (kind_ != WireKind::Varint && kind_ != WireKind::Fixed64 && kind_ != WireKind::Bytes &&
        kind_ != WireKind::Fixed32) {
        throw WireError("a field with an unknown wire type");
    }
    constexpr std::uint64_t kLargestField = (std::uint64_t{1} << 29U) - 1;
    if (key >> 3U == 0 || key >> 3U > kLargestField) {
        throw WireError("a field with an invalid number");
    }
    field_ = static_cast<std::uint32_t>(key >> 3U);
    pending_ = true;
    return true;
}

void WireReader::skip() {
    if (!pending_) {
        return;
    }
    pending_ = false;
    switch (kind_) {
        case WireKind::Varint: take_varint(rest_); break;
        case WireKind::Fixed64: take(rest_, 8); break;
        case WireKind::Bytes: take(rest_, take_varint(rest_)); break;
        case WireKind::Fixed32: take(rest_, 4); break;
    }
}

void WireReader::require(WireKind kind) {
    if (kind_ != kind) {
        throw WireError("field " + std::to_string(field_) + " has an unexpected wire type");
    }
    pending_ = false;
}

std::uint64_t WireReader::varint() {
    require(WireKind::Varint);
    return take_varint(rest_);
}

std::string_view WireReader::bytes() {
    require(WireKind::Bytes);
    return take(rest_, take_varint(rest_));
}

std::string_view WireReader::fixed(WireKind alone, std::size_t width) {
    if (kind_ == alone) {
        pending_ = false;
        return take(rest_, width);
    }
    const std::string_view packed = bytes();
    if (packed.size() % width != 0) {
        throw WireError("packed numbers whose length is not a multiple of their size");
    }
    return packed;
}

float WireReader::float32() {
    require(WireKind::Fixed32);
    float value = 0.0F;
    std::memcpy(&value, take(rest_, sizeof value).data(), sizeof value);
    return value;
}

void WireReader::append_varints(std::vector<std::int64_t>& to) {
    if (kind_ == WireKind::Varint) {
        to.push_back(static_cast<std::int64_t>(varint()));
        return;
    }
    for (std::string_view packed = bytes(); !packed.empty();) {
        to.push_back(static_cast<std::int64_t>(take_varint(packed)));
    }
}

void WireReader::append_floats(std::vector<double>& to) {
    const std::string_view all = fixed(WireKind::Fixed32, sizeof(float));
    for (std::size_t at = 0; at < all.size(); at += sizeof(float)) {
        float value = 0.0F;
        std::memcpy(&value, all.data() + at, sizeof value);
        to.push_back(static_cast<double>(value));
    }
}

void WireReader::append_doubles(std::vector<double>& to) {
    const std::string_view all = fixed(WireKind::Fixed64, sizeof(double));
    for (std::size_t at = 0; at < all.size(); at += sizeof(double)) {
        double value = 0.0;
        std::memcpy(&value, all.data() + at, sizeof value);
        to.push_back(value);
    }
}

namespace {

void append_number(std::string& to, std::uint64_t value) {
    while (value >= 0x80) {
        to += static_cast<char>((value & 0x7FU) | 0x80U);
        value >>= 7U;
    }
    to += static_cast<char>(value);
}

void append_key(std::string& to, std::uint32_t field, WireKind kind) {
    append_number(to, std::uint64_t{field} << 3U | static_cast<std::uint64_t>(kind));
}

}  // namespace

void append_varint(std::string& message, std::uint32_t field, std::uint64_t value) {
    append_key(message, field, WireKind::Varint);
    append_number(message, value);
}

void append_bytes(std::string& message, std::uint32_t field, std::string_view value) {
    append_key(message, field, WireKind::Bytes);
    append_number(message, value.size());
    message += value;
}

void append_float(std::string& message, std::uint32_t field, float value) {
    append_key(message, field, WireKind::Fixed32);
    append_little_endian(message, std::bit_cast<std::uint32_t>(value), 4);
}

void append_double(std::string& message, std::uint32_t field, double value) {
    append_key(message, field, WireKind::Fixed64);
    append_little_endian(message, std::bit_cast<std::uint64_t>(value), 8);
}

void append_little_endian(std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
        to += static_cast<char>((value >> (8U * static_cast<unsigned>(i))) & 0xFFU);
    }
}

}  // namespace headscope
