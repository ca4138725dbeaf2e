// Wrapping and measuring text.
#include <catch2/catch.hpp>

#include "paint/text_width.h"

using namespace headscope;

using Lines = std::vector<std::string>;

TEST_CASE("Words fill lines, and a word longer than a line is broken", "[text]") {
    CHECK(wrapped("", 10.0).empty());
    CHECK(wrapped("one", 10.0) == Lines{"one"});
    CHECK(wrapped("mm mm mm", text_width("mm mm")) == Lines{"mm mm", "mm"});
    CHECK(wrapped("mm mm", 0.99 * text_width("mm mm")) == Lines{"mm", "mm"});
    CHECK(wrapped("a mmmmm b", text_width("mm")) == Lines{"a", "mm", "mm", "m", "b"});
    CHECK(wrapped("äöüß", 0.0) == Lines{"ä", "ö", "ü", "ß"});
    CHECK(wrapped("a b\n  c d\n\ne", 10.0) == Lines{"a b", "  c d", "", "e"});
    std::string word;
    for (int i = 0; i < 200; ++i) {
        word += i % 3 == 0 ? "\U0001F600" : "grö";
    }
    std::string again;
    for (const std::string& line : wrapped(word, 30.0)) {
        CHECK(text_width(line) <= 30.0);
        again += line;
    }
    CHECK(again == word);
}

TEST_CASE("Labels are measured by character, not by byte", "[words]") {
    CHECK(text_width("ü") < 1.0);
    CHECK(text_width("WW") > text_width("ii"));
    CHECK(text_width("\xFF\xFE") > 0.0);
    CHECK(text_width("") == 0.0);
}
