// Base64 (RFC 4648), for bytes within text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headscope {

// With padding, on one line.
std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace headscope
