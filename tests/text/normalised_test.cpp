#include "text/normalised.h"

#include <utf8proc.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/random.h"
#include "tests/text/characters.h"
#include "tests/text/empty_texts.h"
#include "text/case.h"
#include "text/normal_form.h"

using namespace headscope;

namespace {

bool assigned(utf8proc_int32_t c) {
    const utf8proc_category_t category = utf8proc_category(c);
    return category != UTF8PROC_CATEGORY_CN && category != UTF8PROC_CATEGORY_CS;
}

// By the first letter of the category: "P" is any punctuation.
bool is(utf8proc_int32_t c, char letter) {
    return utf8proc_category_string(c)[0] == letter;
}

bool is_dropped(utf8proc_int32_t c) {
    return utf8proc_category(c) == UTF8PROC_CATEGORY_CF || utf8proc_get_property(c)->ignorable;
}

bool is_blank(utf8proc_int32_t c) {
    return is(c, 'Z') || utf8proc_category(c) == UTF8PROC_CATEGORY_CC || c == 0xFFFD || c == 0x2581;
}

bool is_gap(utf8proc_int32_t c) {
    return is(c, 'P') || is_blank(c) || (c < 0x80 && is(c, 'S'));
}

std::vector<utf8proc_int32_t> all(const std::function<bool(utf8proc_int32_t)>& wanted) {
    std::vector<utf8proc_int32_t> found;
    for (utf8proc_int32_t c = 0; c < kCodePoints; ++c) {
        if (assigned(c) && wanted(c)) {
            found.push_back(c);
        }
    }
    return found;
}

std::string mapped(const std::string& text, int options) {
    utf8proc_uint8_t* bytes = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                     &bytes, static_cast<utf8proc_option_t>(options));
    REQUIRE(size >= 0);
    std::string result(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    std::free(bytes);
    return result;
}

std::string each(const std::string& text, utf8proc_int32_t (*map)(utf8proc_int32_t)) {
    std::string result;
    utf8proc_int32_t c = 0;
    for (std::size_t at = 0; at < text.size();) {
        at += static_cast<std::size_t>(utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(&text[at]), -1, &c));
        result += utf8(map(c));
    }
    return result;
}

utf8proc_int32_t fullwidth(utf8proc_int32_t c) {
    return c > 0x20 && c < 0x7F ? c + 0xFEE0 : c;
}

// Words of random characters, and of those with the most different normal forms, with gaps and dropped characters.
class Generator {
public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    std::string word() {
        std::string text = utf8(letters_[random_.below(letters_.size())]);
        for (std::uint64_t left = random_.below(5); left > 0; --left) {
            switch (random_.below(4)) {
                case 0: text += utf8(letters_[random_.below(letters_.size())]); break;
                case 1: text += utf8(marks_[random_.below(marks_.size())]); break;
                case 2: text += utf8(changing_[random_.below(changing_.size())]); break;
                default: text += static_cast<char>('A' + random_.below(26)); break;
            }
        }
        return text;
    }
    std::string gap() {
        std::string text;
        do {
            text += utf8(gaps_[random_.below(gaps_.size())]);
        } while (random_.below(3) == 0);
        return text;
    }
    std::string dropped() { return random_.below(2) == 0 ? "" : utf8(dropped_[random_.below(dropped_.size())]); }

private:
    // The halfwidth voicing signs are letters that NFKC turns into marks.
    static bool is_letter(utf8proc_int32_t c) {
        return (is(c, 'L') || is(c, 'N')) && !is_dropped(c) && c != 0xFF9E && c != 0xFF9F;
    }

    Random random_;
    std::vector<utf8proc_int32_t> letters_ = all(is_letter);
    std::vector<utf8proc_int32_t> changing_ = all([](utf8proc_int32_t c) {
        return is_letter(c) && c < 0xAC00 &&
               (mapped(utf8(c), UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT) != utf8(c) ||
                mapped(utf8(c), UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD) != utf8(c));
    });
    // The capital of the iota subscript is not a mark.
    std::vector<utf8proc_int32_t> marks_ =
        all([](utf8proc_int32_t c) { return is(c, 'M') && !is_dropped(c) && c != 0x345; });
    std::vector<utf8proc_int32_t> gaps_ = all(is_gap);
    std::vector<utf8proc_int32_t> dropped_ = all(is_dropped);
};

}  // namespace

TEST_CASE("normalized texts differ only in words", "[normalised]") {
    CHECK(normalised_text("Don't  go!") == "dontgo");
    CHECK(normalised_text("  \u201cDon\u2019t go\u2026\u201d ") == "dontgo");
    CHECK(normalised_text("Z\u00fcrich\u00a01") == "z\u00fcrich1");
    CHECK(normalised_text("Zu\u0308rich\u30011") == "z\u00fcrich1");
    CHECK(normalised_text("5\u20ac, \u2260 5") == "5\u20ac\u22605");  // symbols, not punctuation
    CHECK(normalised_text("a$b+c<d=e>f^g`h|i~j") == "abcdefghij");
    CHECK(normalised_text("\u00c4pfel sind rot.") == normalised_text("\u00e4pfel sind rot"));
    CHECK(normalised_text("STRASSE") == normalised_text("stra\u00dfe"));
    CHECK(normalised_text("\ufeffZu\u00adcker \uff21\u200d") == "zuckera");
    CHECK(normalised_text("...") == "...");
    CHECK(normalised_text(" ?\u2028! ") == "? !");
    CHECK(normalised_text(" \u3000\u200b").empty());
}

TEST_CASE("variants of a text have one key", "[normalised]") {
    Generator text(30);
    for (int i = 0; i < 20'000; ++i) {
        std::string plain, other, joined;
        for (int words = 0; words < 3; ++words) {
            const std::string word = text.word();
            plain += (words == 0 ? "" : text.gap()) + text.dropped() + word + text.dropped();
            other += text.gap() + word;
            joined += word;
        }
        const std::string key = normalised_text(plain);
        INFO(plain);
        INFO(key);
        CHECK(normalised_text(key) == key);
        CHECK(normalised_text(other) == key);
        CHECK(normalised_text(joined) == key);
        for (const int compat : {0, static_cast<int>(UTF8PROC_COMPAT)}) {
            CHECK(normalised_text(mapped(plain, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | compat)) == key);
            CHECK(normalised_text(mapped(plain, UTF8PROC_STABLE | UTF8PROC_COMPOSE | compat)) == key);
        }
        const std::string composed = mapped(other, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
        for (const auto map : {utf8proc_toupper, utf8proc_totitle, fullwidth}) {
            CHECK(normalised_text(each(composed, map)) == key);
        }
        const std::string decomposed = mapped(other, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);  // definition D145
        CHECK(normalised_text(mapped(decomposed, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD)) == key);
    }
}

TEST_CASE("the category of a character decides whether it is part of a word, a gap or dropped", "[normalised]") {
    std::string wrong;
    for (const utf8proc_int32_t c : all([](utf8proc_int32_t) { return true; })) {
        const std::string between = normalised_text("a" + utf8(c) + "b");
        const std::string alone = normalised_text(utf8(c));
        const bool right = is_dropped(c) ? between == "ab" : !is_gap(c) || between == "ab";
        const bool empty = is_dropped(c) || is_blank(c);
        if (!right || alone.empty() != empty || is_empty_text(utf8(c)) != empty || normalised_text(alone) != alone) {
            wrong += " " + utf8(c);
        }
    }
    CHECK(wrong == "");
}

TEST_CASE("variants in scripts without spaces have one key", "[normalised]") {
    for (const auto& [text, twin] : std::vector<std::pair<std::string, std::string>>{
             {"\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u4f60\u597d\u4e16\u754c"},
             {"\u300c\u306f\u3044\u300d\u3068\u3001\u8a00\u3063\u305f\u3002", "\u306f\u3044\u3068\u8a00\u3063\u305f"},
             {"\u0e27\u0e31\u0e19\u0e19\u0e35\u0e49 \u0e14\u0e35", "\u0e27\u0e31\u0e19\u0e19\u0e35\u0e49\u0e14\u0e35"},
             {"\u0e27\u0e31\u0e19\u200b\u0e19\u0e35\u0e49\u0e5a", "\u0e27\u0e31\u0e19\u0e19\u0e35\u0e49"},
             {"\u1100-\u1161\u11a8", "\uac01"},
             {"e-mail", "email"},
             {"don't", "dont"},
             {"10 \u20ac", "10\u20ac"}}) {
        INFO(text);
        CHECK(normalised_text(text) == normalised_text(twin));
    }
}

TEST_CASE("a long run of marks does not take quadratic time", "[normalised]") {
    // Long enough for quadratic work to meet the time limit of the tests.
    for (const char* part : {"\u0301\u0316", "\uff9e\u0334", "\u0301\u200d\u0316", "\u0301\u3164\u0316"}) {
        std::string line = "a";
        while (line.size() < (1U << 20U)) {
            line += part;
        }
        CHECK(normalised_text(line).size() > 1000);
        CHECK(nfkc(line).size() > 1000);
    }
}

TEST_CASE("texts without visible characters are empty", "[normalised]") {
    for (const std::string& text : empty_texts()) {
        INFO(text);
        CHECK(is_empty_text(text));
    }
    for (const char* text : {".", "\u2026", "\u00a0-", "\u0301", "\u2800", "\ufffc", "\ue000", "0"}) {
        INFO(text);
        CHECK_FALSE(is_empty_text(text));
    }
}

TEST_CASE("invalid UTF-8 bytes stay part of their word", "[normalised]") {
    CHECK(normalised_text("A\xff!\xc3") == "a\xff\xc3");
    CHECK_FALSE(is_empty_text(" \xc2"));
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes;
        for (std::uint64_t left = random.below(20); left > 0; --left) {
            bytes += static_cast<char>(random.below(256));
        }
        CHECK(normalised_text(bytes).empty() == is_empty_text(bytes));
    }
}
