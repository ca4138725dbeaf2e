#include "io/crc32c.h"

#include <array>
#include <cstddef>

namespace headscope {

namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78U;  // reflected: the lowest bit is the highest power

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) {
            rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? kPolynomial : 0U);
        }
        table[byte] = rest;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (crc >> 8U);
    }
    return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
    constexpr std::uint32_t kMask = 0xA282EAD8U;
    const std::uint32_t crc = crc32c(bytes);
    return ((crc >> 15U) | (crc << 17U)) + kMask;
}

}  // namespace headscope
