#include "text/case.h"

#include <locale.h>
#include <catch2/catch.hpp>
#include <cwctype>

using namespace headscope;

namespace {

std::string utf8(char32_t c) {
    std::string text;
    if (c < 0x80) {
        text += static_cast<char>(c);
    } else if (c < 0x800) {
        text += static_cast<char>(0xC0 | (c >> 6));
        text += static_cast<char>(0x80 | (c & 0x3F));
    } else {
        text += static_cast<char>(0xE0 | (c >> 12));
        text += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        text += static_cast<char>(0x80 | (c & 0x3F));
    }
    return text;
}

}  // namespace

TEST_CASE("capitals of several alphabets become small letters", "[case]") {
    CHECK(fold_case("Äpfel SIND rot") == "äpfel sind rot");
    CHECK(fold_case("ÉCOLE Œuvre ŁÓDŹ Ÿ ŠKODA") == "école œuvre łódź ÿ škoda");
    CHECK(fold_case("ΟΔΥΣΣΕΎΣ") == fold_case("Οδυσσεύς"));
    CHECK(fold_case("ЁЖИК В Київ, Ґанок") == "ёжик в київ, ґанок");
    CHECK(fold_case("ԵՐԵՒԱՆ Ủ ẞ") == "երեւան ủ ß");
    CHECK(fold_case("STRASSE, Straße") == "strasse, straße");
    CHECK(fold_case("日本 🙂 5 €") == "日本 🙂 5 €");
}

TEST_CASE("lower case is Python's", "[case]") {
    CHECK(lower_case("Äpfel SIND ROT, STRASSE") == "äpfel sind rot, strasse");
    CHECK(lower_case("ΟΔΥΣΣΕΎΣ, Σ ΣΑΣ.") == "οδυσσεύς, σ σας.");
    CHECK(lower_case("Οδυσσεύς") == "οδυσσεύς");
    CHECK(lower_case("İstanbul") == "i\u0307stanbul");
    CHECK(lower_case("ＡＢ Ⅷ Å 𐐀") == "ａｂ ⅷ å 𐐨");
    CHECK(lower_case("a\xFFZ") == "a\xFFz");
}

TEST_CASE("bytes that are no UTF-8 stay", "[case]") {
    for (const char* text : {"\xC3", "a\xFFz", "\xC0\x81", "\xE0\x81\x81", "\xE2\x82", "\xC3\x28"}) {
        CHECK(fold_case(text) == text);
    }
    CHECK(fold_case("\xC3\xC3\x84") == "\xC3\xC3\xA4");
}

TEST_CASE("no letter changes but as Unicode says", "[case]") {
    // The C library's tables, where it has a locale that knows more than ASCII.
    locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (unicode == nullptr) {
        WARN("SKIPPED: the system has no locale C.UTF-8 to compare with");
        return;
    }
    for (char32_t c = 1; c < 0x10000; ++c) {
        if (c >= 0xD800 && c < 0xE000) {
            continue;
        }
        const auto small = static_cast<char32_t>(::towlower_l(static_cast<wint_t>(c), unicode));
        const std::string folded = fold_case(utf8(c));
        INFO("U+" << std::hex << static_cast<std::uint32_t>(c));
        // These capitals are younger than the table.
        const bool young = c == 0x1C89 || c == 0xA7CB || c == 0xA7CC || c == 0xA7DA || c == 0xA7DC;
        if (c != 0x3C2 && !young) {
            CHECK(folded == utf8(small));
            CHECK((c == 0x130 || lower_case(utf8(c)) == folded));
        }
    }
    ::freelocale(unicode);
}
