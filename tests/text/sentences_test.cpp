#include "text/sentences.h"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace headscope;

namespace {

using Sentences = std::vector<std::string>;

}  // namespace

TEST_CASE("sentences end at their marks, with what closes behind them") {
    CHECK(split_sentences("It rains. We stay at home! Do you? Yes\u2026 No.") ==
          Sentences{"It rains.", "We stay at home!", "Do you?", "Yes\u2026", "No."});
    CHECK(split_sentences("He said: \"Go.\" Then he went. (So did I.) And \u201eJa!\u201c Gut.") ==
          Sentences{"He said: \"Go.\"", "Then he went.", "(So did I.)", "And \u201eJa!\u201c", "Gut."});
    CHECK(split_sentences("Really?! Wait... What?") == Sentences{"Really?!", "Wait...", "What?"});
    CHECK(split_sentences("\u4f60\u597d\u3002\u518d\u89c1\uff01") ==
          Sentences{"\u4f60\u597d\u3002", "\u518d\u89c1\uff01"});
    CHECK(split_sentences("Erstens. \u00dcbrigens auch zweitens. 1998 war anders.") ==
          Sentences{"Erstens.", "\u00dcbrigens auch zweitens.", "1998 war anders."});
}

TEST_CASE("what looks like an end and is none") {
    for (const std::string text :
         {"Dr. Smith and Mrs. Jones met J. R. Brown.", "Am 3. Mai um 10.30 Uhr, z.B. Berlin, Nr. 5.",
          "It costs 3.50 euros at example.com today", "He asked why? and left... \u00e4hnlich auch heute",
          "Mr. (Prof. Dr.) X", "no end here at all", "The U.S. Army", "(St. Petersburg)"}) {
        CHECK(split_sentences(text) == Sentences{text});
    }
}

TEST_CASE("nothing but blanks is lost") {
    CHECK(split_sentences("").empty());
    CHECK(split_sentences("   \t ").empty());
    CHECK(split_sentences("  A.   B is here.  C  ") == Sentences{"A.   B is here.", "C"});
    const std::string odd = "...!? \xff\xfe. X. . Y\u3002\u3002 Z\u2026\"' \xe2. \xc3";
    std::string joined;
    for (const std::string& sentence : split_sentences(odd)) {
        joined += sentence;
    }
    const auto without_blanks = [](std::string text) {
        text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
        return text;
    };
    CHECK(without_blanks(joined) == without_blanks(odd));
}
