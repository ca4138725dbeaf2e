#include "eval/chrf.h"

#include <catch2/catch.hpp>

#include "support/check.h"

using namespace headscope;
using Lines = std::vector<std::string>;

namespace {

double chrf(const Lines& translations, const std::vector<Lines>& references, bool lowercase = false) {
    return corpus_chrf(translations, references, lowercase).score;
}

const Lines kTranslations{"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."};
const Lines kFirst{"The dog bit the man.", "It was not unexpected.", "The man bit him first."};
const Lines kSecond{"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."};

}  // namespace

// Every expected number below was computed by sacreBLEU 2.6.0.

TEST_CASE("chrF2 of a corpus", "[chrf]") {
    CHECK(chrf(kTranslations, {kFirst}) == Approx(50.043063606582294).epsilon(1e-12));
    CHECK(chrf({"Der Hund", "x"}, {{"Der Hund bellt laut.", "y"}}) == Approx(34.478948443483844).epsilon(1e-12));
    // White space does not count, and an n-gram counts as often as on the other side.
    CHECK(chrf({"abc abc abc"}, {Lines{"ab c"}}) == Approx(61.49193548387096).epsilon(1e-12));
    CHECK(chrf({"ab"}, {Lines{"ab"}}) == Approx(100.0));
    // N-grams longer than their reference do not count, even if other sentences have some as long.
    CHECK(chrf({"abcdefgh", "abcdefgh"}, {Lines{"abcdefgh", "abc"}}) == Approx(95.76566125290023).epsilon(1e-12));
}

TEST_CASE("chrF2 counts characters, not bytes", "[chrf]") {
    CHECK(chrf({"日本語のテスト🙂"}, {Lines{"日本語 テスト🙂"}}) ==
          Approx(43.23387961659629).epsilon(1e-12));
}

TEST_CASE("chrF2 is 0 without common characters and for empty text", "[chrf]") {
    CHECK(chrf({"xyz"}, {Lines{"abc"}}) == 0.0);
    CHECK(chrf({"", ""}, {Lines{"a", "b"}}) == 0.0);
    CHECK(chrf({"a", "b"}, {Lines{"", ""}}) == 0.0);
    CHECK(chrf({}, {Lines{}}) == 0.0);
}

TEST_CASE("the best reference of each sentence counts", "[chrf]") {
    CHECK(chrf(kTranslations, {kFirst, kSecond}) == Approx(59.72751782684763).epsilon(1e-12));
    CHECK(chrf({"short one", "a"}, {{"short one here", "b"}, {"x", "a"}}) == Approx(62.24826582561926).epsilon(1e-12));
    CHECK(chrf({"ab", "cd"}, {{"", "cd"}, {"ab x", "cdx"}}) == Approx(77.46478873239437).epsilon(1e-12));
}

TEST_CASE("case-insensitive chrF2", "[chrf]") {
    CHECK(chrf(kTranslations, {kFirst, kSecond}, true) == Approx(60.02302725455764).epsilon(1e-12));
    const Lines translations{"Ein Mann , der LÄUFT .", "Zwei Hunde&quot; spielen im Schnee"};
    const Lines references{"ein Mann , der läuft .", "zwei hunde spielen im Schnee ."};
    CHECK(chrf(translations, {references}) == Approx(59.1104501524287).epsilon(1e-12));
    CHECK(chrf(translations, {references}, true) == Approx(87.6529945257477).epsilon(1e-12));
}

TEST_CASE("the signature of chrF2", "[chrf]") {
    CHECK(corpus_chrf({"a"}, {Lines{"a"}}).signature() == "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no");
    CHECK(corpus_chrf({"a"}, {Lines{"a"}, Lines{"b"}}, true).signature() ==
          "nrefs:2|case:lc|eff:yes|nc:6|nw:0|space:no");
}

TEST_CASE("invalid UTF-8 bytes are separate characters", "[chrf]") {
    CHECK(chrf({"a\xFF"}, {Lines{"a\xFF"}}) == Approx(100.0));
    CHECK(chrf({"\xFF"}, {Lines{"\xFE"}}) == 0.0);
}

TEST_CASE("chrF2 rejects different numbers of lines", "[chrf]") {
    CHECK_THROWS_AS(chrf({"a", "b"}, {Lines{"a"}}), Error);
    CHECK_THROWS_AS(chrf({"a"}, {}), CheckFailure);
}
