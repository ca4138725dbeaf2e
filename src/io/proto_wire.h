// The Protocol Buffers wire format, as far as SentencePiece models, ONNX files and TensorBoard events need it.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/check.h"

namespace headscope {

enum class WireKind : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// A malformed message. File readers catch it and add the file's name.
class WireError : public Error {
public:
    using Error::Error;
};

// Iterates over the fields of a message; unknown ones can be skipped.
class WireReader {
public:
    // The bytes must outlive the reader.
    explicit WireReader(std::string_view bytes) : rest_(bytes) {}

    // Moves to the next field; false at the end. Skips the previous field's value unless it was read.
    bool next();
    std::uint32_t field() const { return field_; }

    // The field's value. WireError if its wire type is different.
    std::uint64_t varint();
    std::string_view bytes();
    float float32();
    WireReader message() { return WireReader(bytes()); }
    // Appends one number of a repeated field, or all numbers of a packed one.
    void append_varints(std::vector<std::int64_t>& to);
    void append_floats(std::vector<double>& to);
    void append_doubles(std::vector<double>& to);

private:
    void require(WireKind kind);
    void skip();
    // The bytes of one or several packed numbers of `width` bytes.
    std::string_view fixed(WireKind alone, std::size_t width);

    std::string_view rest_;
    std::uint32_t field_ = 0;
    WireKind kind_ = WireKind::Varint;
    bool pending_ = false;
};

// Each appends one field to a message.
void append_varint(std::string& message, std::uint32_t field, std::uint64_t value);
void append_bytes(std::string& message, std::uint32_t field, std::string_view value);
void append_float(std::string& message, std::uint32_t field, float value);
void append_double(std::string& message, std::uint32_t field, double value);

// Appends the lowest `bytes` bytes of a number, least significant first.
void append_little_endian(std::string& to, std::uint64_t value, int bytes);

}  // namespace headscope
