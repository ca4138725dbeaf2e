// Regular expressions and the pre-tokenizers that split text by them. Parts are those of Hugging Face's tokenizers
// 0.23.
#include "text/regex.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "text/text_split.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const std::string& text, const std::vector<ByteSpan>& spans) {
    Texts texts;
    for (const ByteSpan span : spans) {
        texts.push_back(text.substr(span.begin, span.end - span.begin));
    }
    return texts;
}

Texts matches(const std::string& pattern, const std::string& text) {
    return texts_of(text, Regex(pattern, "pattern").matches(text));
}

Texts parts(const std::string& text, const json& pre_tokenizer) {
    const std::string name = "tokenizer.json";
    return texts_of(text, parts_of(text, parse_pre_tokenizer(JsonField(pre_tokenizer, "", name)).splits));
}

json split(const json& pattern, const char* behavior, bool invert = false) {
    return {{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", invert}};
}

}  // namespace

TEST_CASE("regular expressions mean what they do in Oniguruma", "[regex]") {
    CHECK(matches("\\s+", "a \u3000\u0085b\u180ec\u200bd") == Texts{" \u3000\u0085"});
    CHECK(matches("\\S+", "a\u180eb \u2003c") == Texts{"a\u180eb", "c"});
    CHECK(matches("[\\s]", "a\u180e\u1680") == Texts{"\u1680"});
    CHECK(matches("[^\\S ]", "a \t") == Texts{"\t"});
    CHECK(matches("\\w+", "a\u0301_1\u203f-b") == Texts{"a\u0301_1\u203f", "b"});
    CHECK(matches("[\\w-]+", "a\u0301-b c") == Texts{"a\u0301-b", "c"});
    CHECK(matches("\\w+", "2\u00bd\u2460") == Texts{"2\u00bd"});
    CHECK(matches("[\\w]+", "2\u00bd\u2460") == Texts{"2"});
    CHECK(matches("\\W", "a-") == Texts{"-"});
    CHECK(matches("\\d", "a\u0663") == Texts{"\u0663"});
    CHECK(matches("\\v", "\n\v\u2028") == Texts{"\v"});
    CHECK(matches("\\p{Han}+", "\u4e2d\u3002\u3001") == Texts{"\u4e2d"});  // their punctuation is shared
    CHECK(matches("\\p{^L}", "a1") == Texts{"1"});
    CHECK(matches("(?i:'s)", "'S'\u017f") == Texts{"'S", "'\u017f"});
    CHECK(matches("^.", "a\nb\r\nc") == Texts{"a", "b", "c"});
    CHECK(matches("a$", "a\na") == Texts{"a", "a"});
    CHECK(matches("[]\\[]", "[]") == Texts{"[", "]"});
    CHECK(matches("\\x{4e2d}|[\\x{41}]", "A\u4e2d") == Texts{"A", "\u4e2d"});
    CHECK(matches("a{2}|b{1,}", "aabb") == Texts{"aa", "bb"});
    CHECK(matches("a{1,2}?", "aa") == Texts{"a", "a"});
    CHECK(matches("x*", "axb") == Texts{"", "x", ""});
    CHECK(matches("(?<=a)b(?!c)(?>d|e)", "abd abe bd") == Texts{"bd", "be"});
}

TEST_CASE("regular expressions that PCRE2 would understand otherwise, or not at all, are errors", "[regex]") {
    for (const char* pattern :
         {"\\h", "\\bword", "\\K", "\\R", "\\1", "\\x41", "\\u0041", "[\\W]", "[a&&b]", "[[:alpha:]]", "a{,2}",
          "a{1,2}+", "a{3}?", "(?i)a", "(?m:a)", "(?<name>a)", "\\pL", "a\\"}) {
        CAPTURE(pattern);
        CHECK_THAT(error_of([&] { Regex(pattern, "place"); }), Contains("place holds '"));
    }
    for (const char* pattern : {"(a", "a)", "[a", "*a", "\\p{Klingon}", "a{3,2}"}) {
        CAPTURE(pattern);
        CHECK_THAT(error_of([&] { Regex(pattern, "place"); }), Contains("place is no regular expression: "));
    }
    const Regex endless("(a|a)+[bc]", "place");
    CHECK_THAT(error_of([&] { endless.matches(std::string(40, 'a')); }),
               Contains("place cannot be matched with a text of 40 bytes, at byte 0"));
    CHECK(endless.matches("aab").size() == 1);
}

TEST_CASE("a text is split at the matches of a pattern", "[regex]") {
    const std::string text = "the-final--countdown";
    const json dash = {{"String", "-"}};
    CHECK(parts(text, split(dash, "Removed")) == Texts{"the", "final", "countdown"});
    CHECK(parts(text, split(dash, "Isolated")) == Texts{"the", "-", "final", "-", "-", "countdown"});
    CHECK(parts(text, split(dash, "MergedWithPrevious")) == Texts{"the-", "final-", "-", "countdown"});
    CHECK(parts(text, split(dash, "MergedWithNext")) == Texts{"the", "-final", "-", "-countdown"});
    CHECK(parts(text, split(dash, "Contiguous")) == Texts{"the", "-", "final", "--", "countdown"});
    CHECK(parts(text, split({{"Regex", "[^-]+"}}, "Removed")) == Texts{"-", "--"});
    CHECK(parts(text, split({{"Regex", "[^-]+"}}, "Removed", true)) == Texts{"the", "final", "countdown"});
    CHECK(parts("-a", split(dash, "MergedWithPrevious")) == Texts{"-", "a"});
    CHECK(parts("a-", split(dash, "MergedWithNext")) == Texts{"a", "-"});
    CHECK(parts("a.b", split({{"String", "."}}, "Isolated")) == Texts{"a", ".", "b"});
    CHECK(parts("ab", split({{"Regex", "(?=b)"}}, "Isolated")) == Texts{"a", "b"});
    CHECK(parts("", split(dash, "Isolated")).empty());
}

TEST_CASE("pre-tokenizers split the parts of those before", "[regex]") {
    CHECK(parts("a12 \u00bdb", {{"type", "Digits"}, {"individual_digits", true}}) ==
          Texts{"a", "1", "2", " ", "\u00bd", "b"});
    CHECK(parts("a12 \u00bdb", {{"type", "Digits"}}) == Texts{"a", "12", " ", "\u00bd", "b"});
    CHECK(parts(" a\u3000\nb ", {{"type", "WhitespaceSplit"}}) == Texts{"a", "b"});
    const json steps = {{"type", "Sequence"},
                        {"pretokenizers",
                         {{{"type", "WhitespaceSplit"}},
                          split({{"Regex", "^b"}}, "Isolated"),  // sees the part alone
                          {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Digits"}}}}}}}};
    CHECK(parts("ab ba1", steps) == Texts{"ab", "b", "a", "1"});
}
