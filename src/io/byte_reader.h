// Reads little-endian numbers and bytes from memory, with bounds checks.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "support/check.h"

namespace headscope {

inline std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Past the end. File readers catch it and add the file's name.
class TruncatedError : public Error {
public:
    using Error::Error;
};

class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes, std::size_t position = 0)
        : bytes_(bytes), position_(position) {}

    std::size_t position() const { return position_; }

    std::span<const std::byte> take(std::uint64_t count) {
        if (position_ > bytes_.size() || count > bytes_.size() - position_) {
            throw TruncatedError("it ends inside a field: it is truncated or damaged");
        }
        return bytes_.subspan(std::exchange(position_, position_ + static_cast<std::size_t>(count)),
                              static_cast<std::size_t>(count));
    }
    std::string_view text(std::uint64_t count) { return as_text(take(count)); }
    template <std::unsigned_integral T>
    T number() {
        std::uint64_t value = 0;
        std::size_t shift = 0;
        for (const std::byte byte : take(sizeof(T))) {
            value |= std::to_integer<std::uint64_t>(byte) << shift;
            shift += 8;
        }
        return static_cast<T>(value);
    }

private:
    std::span<const std::byte> bytes_;
    std::size_t position_;
};

}  // namespace headscope
