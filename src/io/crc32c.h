// The checksum of TFRecord files: CRC-32C (Castagnoli; RFC 3720, appendix B.4).
#pragma once

#include <cstdint>
#include <string_view>

namespace headscope {

std::uint32_t crc32c(std::string_view bytes);

// The masked form that TFRecord stores: rotated right by 15 bits, plus a constant. Masking keeps the checksum strong
// for data that itself contains checksums (TensorFlow, tsl/lib/hash/crc32c.h).
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace headscope
