#include "eval/bleu.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/check.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Lines = std::vector<std::string>;

namespace {

std::string joined(const Lines& tokens) {
    std::string text;
    for (const std::string& token : tokens) {
        text += (text.empty() ? "" : " ") + token;
    }
    return text;
}

}  // namespace

// Every expected number and token below was computed by sacreBLEU 2.6.0.

TEST_CASE("13a tokens", "[bleu]") {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"Hello, world!", "Hello , world !"},
        {"3.14 and 1,000,000.", "3.14 and 1,000,000 ."},
        {"U.S.A.", "U . S . A ."},
        {"a.b,c", "a . b , c"},
        {"5-year-old well-known", "5 - year-old well-known"},
        {"'quoted' \"text\"", "'quoted' \" text \""},
        {"&quot;Tom &amp; Jerry&quot; &lt;b&gt;", "\" Tom & Jerry \" < b >"},
        {"&amp;quot;", "& quot ;"},
        {"<skipped>x<skip>", "x < skip >"},
        {"..., wait...", ". . . , wait . . ."},
        {"1.,2", "1 . , 2"},
        {".5 5.", ". 5 5 ."},
        {"ä.ö,ü – ß", "ä . ö , ü – ß"},
        {"a\u00a0b\u2003c\u0085d\u200be", "a b c d\u200be"},
        {"$5.00/kg @ 10% #1", "$ 5.00 / kg @ 10 % # 1"},
        {"e-mail: x_y@z.de", "e-mail : x _ y @ z . de"},
        {"", ""},
        {"   ", ""},
        {"end-   ", "end-"},
        {"end-\n", "end-"},
        {"a-\nb\nc", "ab c"},
        {"(a)[b]{c}|~^`\\", "( a ) [ b ] { c } | ~ ^ ` \\"},
        {"日本。語.", "日本。語 ."},
        {"x\x1cy\x1fz", "x y z"},
        {"\u3000a\u202f b", "a b"},
        {"--1--2-", "--1 - -2 -"},
    };
    for (const auto& [line, expected] : cases) {
        CHECK(joined(tokenize_13a(line)) == expected);
    }
}

TEST_CASE("corpus BLEU", "[bleu]") {
    struct Case {
        Lines translations, references;
        double score;
        std::array<double, 4> precisions;
        double brevity_penalty;
        std::int64_t system_length, reference_length;
    };
    const std::vector<Case> cases{
        {{"Der Hund beißt den Mann ."}, {"Der Hund beißt den Mann."}, 100.0, {100, 100, 100, 100}, 1.0, 6, 6},
        // shorter than an order: no BLEU, although everything matches
        {{"The cat"}, {"The cat sat on the mat."}, 0.0, {100, 100, 0, 0}, 0.0820849986238988, 2, 7},
        // two orders without a match: 1/2 and 1/4 of one
        {{"The dog sat on a rug today .", "no match whatsoever here"},
         {"The cat sat on the mat today.", "Ganz andere Worte stehen dort."},
         10.273997808375384,
         {41.666666666666664, 20.0, 6.25, 4.166666666666667},
         0.846481724890614,
         12,
         14},
        {{"It costs 3,000.50 dollars, he said.", "A well-known 1990-2000 era."},
         {"It costs 3,000.50 dollars , he said to the whole crowd .", "A well-known era, 1990-2000."},
         45.86210388708565,
         {100.0, 69.23076923076923, 54.54545454545455, 44.44444444444444},
         0.7165313105737893,
         15,
         20},
        // a repeated word counts as often as in the reference
        {{"the the the the the the the"},
         {"The cat is on the mat, the."},
         5.868924818816531,
         {28.571428571428573, 8.333333333333334, 5.0, 3.125},
         0.7514772930752859,
         7,
         9},
        {{"", ""}, {"a b c d", "e"}, 0.0, {0, 0, 0, 0}, 0.0, 0, 5},
        {{"x y z w v"}, {"a b c d e"}, 0.0, {0, 0, 0, 0}, 1.0, 5, 5},
        // case counts
        {{"the dog bit the man today ok"},
         {"The Dog bit the man today ok"},
         61.47881529512643,
         {71.42857142857143, 66.66666666666667, 60.0, 50.0},
         1.0,
         7,
         7},
    };
    for (const Case& expected : cases) {
        const BleuScore bleu = corpus_bleu(expected.translations, expected.references);
        CAPTURE(expected.translations);
        CHECK(bleu.score == Approx(expected.score).epsilon(1e-12));
        for (std::size_t order = 0; order < 4; ++order) {
            CHECK(bleu.precisions[order] == Approx(expected.precisions[order]).epsilon(1e-12));
        }
        CHECK(bleu.brevity_penalty == Approx(expected.brevity_penalty).epsilon(1e-12));
        CHECK(bleu.system_length == expected.system_length);
        CHECK(bleu.reference_length == expected.reference_length);
    }
}

TEST_CASE("several references", "[bleu]") {
    const BleuScore bleu =
        corpus_bleu({"The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."},
                    {{"The dog bit the man.", "It was not unexpected.", "The man bit him first."},
                     {"The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."}});
    CHECK(bleu.score == Approx(48.530827009929865).epsilon(1e-12));
    CHECK(bleu.reference_length == 18);
    CHECK(bleu.signature() == "nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp");
    // An n-gram counts as often as in one reference, not as in all together: 2 of 3.
    CHECK(corpus_bleu({"a a a"}, {Lines{"a a b"}, Lines{"a b b"}}).matches[0] == 2);
    // Of two references at the same distance the shorter one counts, in any order.
    CHECK(corpus_bleu({"a b c"}, {Lines{"a b c d"}, Lines{"a b"}}).reference_length == 2);
    CHECK(corpus_bleu({"a b c"}, {Lines{"a b"}, Lines{"a b c d"}}).reference_length == 2);
}

TEST_CASE("tokenized text, and case-insensitive text", "[bleu]") {
    const Lines translations{"Ein Mann , der LÄUFT .", "Zwei Hunde&quot; spielen im Schnee"};
    const Lines references{"ein Mann , der läuft .", "zwei hunde spielen im Schnee ."};
    const auto bleu = [&](const BleuOptions& options) { return corpus_bleu(translations, references, options); };
    const BleuScore none = bleu({.tokens = BleuTokens::None});
    CHECK(none.score == Approx(27.37678098181287).epsilon(1e-12));
    CHECK(none.totals == std::array<std::int64_t, 4>{11, 9, 7, 5});
    CHECK(none.signature() == "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp");
    const BleuScore both = bleu({.tokens = BleuTokens::None, .lowercase = true});
    CHECK(both.score == Approx(67.74702029865007).epsilon(1e-12));
    CHECK(both.signature() == "nrefs:1|case:lc|eff:no|tok:none|smooth:exp");
    const BleuScore lowercase = bleu({.lowercase = true});
    CHECK(lowercase.score == Approx(69.18912876154525).epsilon(1e-12));
    CHECK(lowercase.signature() == "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp");
    CHECK(bleu({}).score == Approx(26.404861082353683).epsilon(1e-12));
    // Any white space separates words.
    CHECK(corpus_bleu({"a-\u00a0b\u2003c d e"}, Lines{"a- b c d e"}, {.tokens = BleuTokens::None}).score ==
          Approx(100.0));
}

TEST_CASE("a corpus is not the mean of its sentences", "[bleu]") {
    const Lines translations{"a b c d e f", "x"};
    const Lines references{"a b c d e f", "y z"};
    const BleuScore bleu = corpus_bleu(translations, references);
    CHECK(bleu.matches == std::array<std::int64_t, 4>{6, 5, 4, 3});
    CHECK(bleu.totals == std::array<std::int64_t, 4>{7, 5, 4, 3});
}

TEST_CASE("a sentence has a score of the orders that it has", "[bleu]") {  // sacrebleu.sentence_bleu()
    CHECK(sentence_bleu("The cat sat on the mat.", "The cat sat on a mat.") == Approx(48.8923022435));
    CHECK(sentence_bleu("a man", "a man sleeps") == Approx(60.6530659713));
    CHECK(sentence_bleu("dog", "dog") == Approx(100.0));
    CHECK(sentence_bleu("dog", "cat") == 0.0);
    CHECK(sentence_bleu("", "cat") == 0.0);
    CHECK(sentence_bleu("zwei hundert drei", "zwei hundert vier") == Approx(55.0321208149));
    CHECK(sentence_bleu("Ein Mann fährt Fahrrad, oder?", "Ein Mann fährt mit dem Fahrrad.") == Approx(26.2690989442));
    CHECK(sentence_bleu("the the the the the", "the cat") == Approx(10.6821751599));
}

TEST_CASE("a score as text", "[bleu]") {
    const BleuScore bleu = corpus_bleu({"The dog sat on a rug today .", "no match whatsoever here"},
                                       Lines{"The cat sat on the mat today.", "Ganz andere Worte stehen dort."});
    CHECK(bleu.to_string() == "BLEU = 10.27 41.7/20.0/6.2/4.2 (BP = 0.846 ratio = 0.857 hyp_len = 12 ref_len = 14)");
    CHECK(bleu.signature() == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp");
    CHECK_THAT(corpus_bleu({}, Lines{}).to_string(), Contains("BLEU = 0.00") && Contains("ratio = 0.000"));
}

TEST_CASE("different numbers of lines are rejected", "[bleu]") {
    try {
        corpus_bleu({"a", "b"}, Lines{"a"});
        FAIL("no complaint");
    } catch (const Error& error) {
        CHECK_THAT(error.what(), Contains("2 translations") && Contains("1 references"));
    }
    CHECK_THROWS_AS(corpus_bleu({"a"}, std::vector<Lines>{}), CheckFailure);
}

// Expected: perl -ple 's{(\S)-(\S)}{$1 ##AT##-##AT## $2}g' on both sides, then multi-bleu's sums.
TEST_CASE("compounds are split as in the paper's scores", "[bleu]") {
    CHECK(split_compounds({"schwarz-weiß", "a-b-c", "-", "-x-", "---", "S-", "--"}) ==
          std::vector<std::string>{"schwarz", "##AT##-##AT##", "weiß", "a", "##AT##-##AT##", "b-c", "-", "-x-", "-",
                                   "##AT##-##AT##", "-", "S-", "--"});
    const std::vector<std::string> translations{"ein schwarz-weißer Hund läuft über die A-B-C Straße .",
                                                "die S-Bahn ist pünktlich - wie immer -x- --- ."};
    const std::vector<std::string> references{"ein schwarz-weißer Hund rennt über die A-B-C Straße .",
                                              "die S-Bahn war pünktlich - wie immer -x- --- ."};
    const BleuScore whole = corpus_bleu(translations, references, {.tokens = BleuTokens::None});
    CHECK(whole.score == Approx(65.97618889159989).epsilon(1e-12));
    const BleuScore split =
        corpus_bleu(translations, references, {.tokens = BleuTokens::None, .split_compounds = true});
    CHECK(split.score == Approx(77.23695937778386).epsilon(1e-12));
    CHECK(split.matches == std::array<std::int64_t, 4>{25, 21, 17, 13});
    CHECK(split.totals == std::array<std::int64_t, 4>{27, 25, 23, 21});
    CHECK(split.signature() == "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|compounds:split");
}
