// Base64: the vectors of RFC 4648 and all digits.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "support/base64.h"

using namespace headscope;

namespace {

std::string base64_of(const std::string& text) {
    return base64(std::vector<std::uint8_t>(text.begin(), text.end()));
}

}  // namespace

TEST_CASE("Base64 pads to groups of four", "[base64]") {
    CHECK(base64_of("").empty());
    CHECK(base64_of("f") == "Zg==");
    CHECK(base64_of("fo") == "Zm8=");
    CHECK(base64_of("foo") == "Zm9v");
    CHECK(base64_of("foob") == "Zm9vYg==");
    CHECK(base64_of("foobar") == "Zm9vYmFy");
}

TEST_CASE("Base64 has a digit for each six bits", "[base64]") {
    CHECK(base64(std::vector<std::uint8_t>{0xFB, 0xEF, 0xFF}) == "++//");
    CHECK(base64(std::vector<std::uint8_t>{0x00, 0x10, 0x83}) == "ABCD");
}
