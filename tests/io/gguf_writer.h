// GGUF files for tests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "io/proto_wire.h"

namespace headscope {

// In a block of a quantised type of this number: where the upper bytes of scales and least values in F16 are.
inline std::set<std::size_t> upper_scale_bytes(std::uint32_t type) {
    switch (type) {
        case 10: return {81, 83};  // Q2_K
        case 11: return {109};     // Q3_K
        case 14: return {209};     // Q6_K
        case 3:
        case 7:
        case 12:
        case 13: return {1, 3};  // those with least values, which are the second
        default: return {1};
    }
}

// The parts of a file, in its order. Tensors have llama.cpp's order of sides: that of rows is the first.
class GgufWriter {
public:
    explicit GgufWriter(std::uint32_t version = 3) : version_(version) {}

    GgufWriter& add_text(const std::string& key, const std::string& value) { return add(key, kString, string(value)); }
    GgufWriter& add_number(const std::string& key, std::uint32_t value) { return add(key, kU32, number(value, 4)); }
    GgufWriter& add_float(const std::string& key, float value) {
        return add(key, kF32, number(std::bit_cast<std::uint32_t>(value), 4));
    }
    GgufWriter& add_flag(const std::string& key, bool value) { return add(key, kBool, number(value ? 1 : 0, 1)); }
    GgufWriter& add_texts(const std::string& key, const std::vector<std::string>& values) {
        std::string bytes = number(kString, 4) + number(values.size(), 8);
        for (const std::string& value : values) {
            bytes += string(value);
        }
        return add(key, kList, bytes);
    }
    GgufWriter& add_numbers(const std::string& key, const std::vector<std::uint32_t>& values) {
        std::string bytes = number(kU32, 4) + number(values.size(), 8);
        for (const std::uint32_t value : values) {
            bytes += number(value, 4);
        }
        return add(key, kList, bytes);
    }
    GgufWriter& add_floats(const std::string& key, const std::vector<float>& values) {
        std::string bytes = number(kF32, 4) + number(values.size(), 8);
        for (const float value : values) {
            bytes += number(std::bit_cast<std::uint32_t>(value), 4);
        }
        return add(key, kList, bytes);
    }
    // Any type, with the bytes that follow it.
    GgufWriter& add(const std::string& key, std::uint32_t type, const std::string& bytes) {
        values_ += string(key) + number(type, 4) + bytes;
        ++value_count_;
        return *this;
    }
    GgufWriter& add_tensor(const std::string& name, const std::vector<std::uint64_t>& sides, std::uint32_t type,
                           const std::string& data) {
        place_tensor(name, sides, type, data_.size());
        data_ += data;
        data_.resize((data_.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
        return *this;
    }
    // Without data of its own.
    GgufWriter& place_tensor(const std::string& name, const std::vector<std::uint64_t>& sides, std::uint32_t type,
                             std::uint64_t offset) {
        tensors_ += string(name) + number(sides.size(), 4);
        for (const std::uint64_t side : sides) {
            tensors_ += number(side, 8);
        }
        tensors_ += number(type, 4) + number(offset, 8);
        ++tensor_count_;
        return *this;
    }

    std::string file() const {
        std::string bytes =
            "GGUF" + number(version_, 4) + number(tensor_count_, 8) + number(value_count_, 8) + values_ + tensors_;
        bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
        return bytes + data_;
    }

    static std::string number(std::uint64_t value, int bytes) {
        std::string text;
        append_little_endian(text, value, bytes);
        return text;
    }
    static std::string string(const std::string& text) { return number(text.size(), 8) + text; }

    static constexpr std::uint32_t kU16 = 2, kI32 = 5, kU32 = 4, kF32 = 6, kBool = 7, kString = 8, kList = 9;
    static constexpr std::size_t kAlignment = 32;

private:
    std::uint32_t version_;
    std::string values_, tensors_, data_;
    std::uint64_t value_count_ = 0, tensor_count_ = 0;
};

}  // namespace headscope
