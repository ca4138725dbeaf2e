// Protocol Buffers' wire format, as far as ONNX's files need it: fields one after the other, unknown ones passed over.
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::conformance {

class WireReader {
public:
    // `what` names the message in errors: "model.onnx". The bytes outlive the reader.
    WireReader(std::string_view bytes, std::string what) : rest_(bytes), what_(std::move(what)) {}

    // The next field, false at the end. What the last one held has to have been taken, or is passed over.
    bool next();
    std::uint32_t field() const { return field_; }

    // What the field holds. Error where it is of another kind.
    std::uint64_t varint();
    std::string_view bytes();
    float float32();
    WireReader message() { return {bytes(), what_}; }
    // One of a repeated field's numbers, or all of them packed into one.
    void append_varints(std::vector<std::int64_t>& to);
    void append_floats(std::vector<double>& to);
    void append_doubles(std::vector<double>& to);

private:
    enum class Kind : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
    [[noreturn]] void fail(const std::string& problem) const;
    std::uint64_t read_varint(std::string_view& from) const;
    std::string_view read(std::string_view& from, std::uint64_t count) const;
    void require(Kind kind);
    void pass_over();
    // The numbers of `width` bytes that the field holds.
    std::string_view fixed(Kind alone, std::size_t width);

    std::string_view rest_;
    std::string what_;
    std::uint32_t field_ = 0;
    Kind kind_ = Kind::Varint;
    bool pending_ = false;
};

}  // namespace headscope::conformance
