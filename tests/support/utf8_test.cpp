#include "support/utf8.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

using namespace headscope;

namespace {

// Plain arithmetic, independent of the tables of the code under test.
std::string encode(char32_t code, int bytes) {
    static const unsigned kMarks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    std::string text;
    for (int byte = bytes - 1; byte > 0; --byte) {
        text.insert(text.begin(), static_cast<char>(0x80U | (code & 0x3fU)));
        code >>= 6U;
    }
    text.insert(text.begin(), static_cast<char>(kMarks[bytes] | code));
    return text;
}

}  // namespace

TEST_CASE("every code point in every length", "[utf8]") {
    const auto shortest = [](char32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; };
    const auto most = [](int bytes) {
        return bytes == 1 ? 0x7fU : bytes == 2 ? 0x7ffU : bytes == 3 ? 0xffffU : 0x1fffffU;
    };
    std::size_t wrong = 0;
    for (int bytes = 2; bytes <= 4; ++bytes) {
        for (char32_t code = 0; code <= most(bytes); ++code) {
            const bool surrogate = code >= 0xd800 && code <= 0xdfff;
            const bool valid = bytes == shortest(code) && !surrogate && code <= 0x10ffff;
            wrong += first_invalid_utf8(encode(code, bytes)).has_value() == valid ? 1 : 0;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("the first invalid byte is found", "[utf8]") {
    CHECK_FALSE(first_invalid_utf8(""));
    CHECK_FALSE(first_invalid_utf8(std::string("a\0b", 3)));
    CHECK(first_invalid_utf8("\x80") == 0);
    CHECK(first_invalid_utf8("ab\xff") == 2);
    CHECK(first_invalid_utf8("\xC3\xA4\xC3") == 2);       // truncated
    CHECK(first_invalid_utf8("\xC3\xA4\xE2\x80x") == 2);  // a letter inside a character
    CHECK(first_invalid_utf8("\xF0\x9F\x98\x80\xF5\x80\x80\x80") == 4);
    CHECK(first_invalid_utf8("x\xC3\xC3\xA4") == 1);
    // The text ends inside a character, although the memory continues with its rest.
    CHECK(first_invalid_utf8(std::string_view("x\xE2\x82\xAC").substr(0, 3)) == 1);
}

TEST_CASE("each invalid byte is displayed as one replacement character", "[utf8]") {
    const std::string_view text = "\xC3\xA4\xE2\x82z";
    std::u32string shown;
    for (std::size_t at = 0; at < text.size();) {
        shown += next_character(text, at);
    }
    CHECK(shown == U"\u00e4\ufffd\ufffdz");
}
