#include "text/case.h"

#include <locale.h>
#include <catch2/catch.hpp>
#include <cwctype>

#include "tests/text/characters.h"

using namespace headscope;

TEST_CASE("capitals of several alphabets become small letters", "[case]") {
    CHECK(fold_case("Äpfel SIND rot") == "äpfel sind rot");
    CHECK(fold_case("ÉCOLE Œuvre ŁÓDŹ Ÿ ŠKODA") == "école œuvre łódź ÿ škoda");
    CHECK(fold_case("ΟΔΥΣΣΕΎΣ") == fold_case("Οδυσσεύς"));
    CHECK(fold_case("ЁЖИК В Київ, Ґанок") == "ёжик в київ, ґанок");
    CHECK(fold_case("ԵՐԵՒԱՆ Ủ ẞ") == "երեւան ủ ß");
    CHECK(fold_case("STRASSE, Straße") == "strasse, straße");
    CHECK(fold_case("日本 🙂 5 €") == "日本 🙂 5 €");
}

TEST_CASE("lower_case() equals Python's", "[case]") {
    CHECK(lower_case("Äpfel SIND ROT, STRASSE") == "äpfel sind rot, strasse");
    CHECK(lower_case("ΟΔΥΣΣΕΎΣ, Σ ΣΑΣ.") == "οδυσσεύς, σ σας.");
    CHECK(lower_case("Οδυσσεύς") == "οδυσσεύς");
    CHECK(lower_case("İstanbul") == "i\u0307stanbul");
    CHECK(lower_case("ＡＢ Ⅷ Å 𐐀") == "ａｂ ⅷ å 𐐨");
    CHECK(lower_case("a\xFFZ") == "a\xFFz");
}

TEST_CASE("invalid UTF-8 bytes are kept", "[case]") {
    for (const char* text : {"\xC3", "a\xFFz", "\xC0\x81", "\xE0\x81\x81", "\xE2\x82", "\xC3\x28"}) {
        CHECK(fold_case(text) == text);
    }
    CHECK(fold_case("\xC3\xC3\x84") == "\xC3\xC3\xA4");
}

TEST_CASE("a capital sigma at the end of a word becomes a final sigma", "[case]") {
    // Results of Python 3's str.lower.
    CHECK(lower_case("ΑΣ'Α ΑΣ' 'Σ' ΑΣ\u0301") == "ασ'α ας' 'σ' ας\u0301");
    CHECK(lower_case("ABΣ 1Σ A1Σ ΣΣ") == "abς 1σ a1σ σς");
    CHECK(lower_case("Α\u00adΣ Α.Σ Α·Σ. Α:Σ:Α") == "α\u00adς α.ς α·ς. α:σ:α");
    CHECK(lower_case("ªΣ ⅣΣ ⒶΣ 🄰Σ ʰΣ 日Σ") == "ªς ⅳς ⓐς 🄰ς ʰσ 日σ");
    CHECK(lower_case("ΑΣ\xFF ΑΣ\xFFΑ Α\xFFΣ") == "ας\xFF ας\xFFα α\xFFσ");
}

TEST_CASE("letters change only as Unicode defines", "[case]") {
    // Compares with the C library's tables, if it has a locale beyond ASCII.
    locale_t unicode = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (unicode == nullptr) {
        WARN("SKIPPED: the system has no locale C.UTF-8 to compare with");
        return;
    }
    std::string wrong;
    for (utf8proc_int32_t c = 1; c < 0x110000; ++c) {
        const auto small = static_cast<utf8proc_int32_t>(::towlower_l(static_cast<wint_t>(c), unicode));
        const bool both_know =
            ::iswprint_l(static_cast<wint_t>(c), unicode) != 0 && utf8proc_category(c) != UTF8PROC_CATEGORY_CN;
        if (c != 0x130 && both_know) {
            const std::string folded = c == 0x3C2 ? utf8(0x3C3) : utf8(small);
            wrong += fold_case(utf8(c)) == folded && lower_case(utf8(c)) == utf8(small) ? "" : " " + utf8(c);
        }
    }
    ::freelocale(unicode);
    CHECK(wrong == "");
}
