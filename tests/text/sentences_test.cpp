#include "text/sentences.h"

#include <utf8proc.h>

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "support/random.h"
#include "support/utf8.h"
#include "tests/text/characters.h"
#include "text/sentence_terminals.h"
#include "text/white_space.h"

using namespace headscope;

namespace {

using Sentences = std::vector<std::string_view>;

std::string encoded(char32_t c) {
    return utf8(static_cast<utf8proc_int32_t>(c));
}

bool is_surrogate(char32_t c) {
    return c >= 0xd800 && c <= 0xdfff;
}

std::string without_white_space(std::string_view text) {
    std::string kept;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const std::optional<char32_t> c = next_code_point(text, at);
        kept += c && is_white_space(*c) ? "" : text.substr(begin, at - begin);
    }
    return kept;
}

}  // namespace

TEST_CASE("sentences end at their marks, including closing quotes and brackets") {
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

TEST_CASE("false ends of sentences") {
    for (const std::string text :
         {"Dr. Smith and Mrs. Jones met J. R. Brown.", "Am 3. Mai um 10.30 Uhr, z.B. Berlin, Nr. 5.",
          "It costs 3.50 euros at example.com today", "He asked why? and left... \u00e4hnlich auch heute",
          "Mr. (Prof. Dr.) X", "no end here at all", "The U.S. Army", "(St. Petersburg)"}) {
        CHECK(split_sentences(text) == Sentences{text});
    }
}

TEST_CASE("only blanks are lost") {
    CHECK(split_sentences("").empty());
    CHECK(split_sentences("   \t ").empty());
    CHECK(split_sentences("  A.   B is here.  C  ") == Sentences{"A.   B is here.", "C"});
}

TEST_CASE("a sentence may end before any white space except no-break spaces") {
    int spaces = 0;
    for (char32_t c = 0; c < kCodePoints; ++c) {
        if (is_surrogate(c) || !is_white_space(c)) {
            continue;
        }
        ++spaces;
        const std::string line = "It rains." + encoded(c) + "We stay.";
        INFO("U+" << std::hex << static_cast<std::uint32_t>(c));
        CHECK(split_sentences(line).size() == (is_no_break_space(c) ? 1 : 2));
        CHECK(split_sentences(line, SentenceBreaks::Any) == Sentences{"It rains.", "We stay."});
        CHECK(split_sentences("It rains." + encoded(c) + " We stay.") == Sentences{"It rains.", "We stay."});
        CHECK(split_sentences(encoded(c) + "It rains." + encoded(c)) == Sentences{"It rains."});
        const std::size_t parts = split_sentences("Rain" + encoded(c) + "and snow", SentenceBreaks::Any).size();
        CHECK(parts == (is_line_separator(c) ? 2 : 1));
    }
    CHECK(spaces == 25);
    CHECK(split_sentences("It rains.\u200b We stay.").size() == 2);
    CHECK(split_sentences("Am 3.\u00a0Mai kam Dr.\u00a0Schmidt.", SentenceBreaks::Any).size() == 1);
    CHECK(split_sentences("\u00ab\u00a0Oui.\u00a0\u00bb Puis non.") ==
          Sentences{"\u00ab\u00a0Oui.\u00a0\u00bb", "Puis non."});
}

TEST_CASE("a blank before a closing mark does not end a sentence") {
    CHECK(split_sentences("\u00ab Non. \u00bb Puis il part.") == Sentences{"\u00ab Non. \u00bb", "Puis il part."});
    CHECK(split_sentences("\u00ab Non ! \u00bb") == Sentences{"\u00ab Non ! \u00bb"});
    CHECK(split_sentences("( Non. ) Puis [ non. ]") == Sentences{"( Non. )", "Puis [ non. ]"});
    CHECK(split_sentences("(\u00ab Non. \u00bb) Puis") == Sentences{"(\u00ab Non. \u00bb)", "Puis"});
    CHECK(split_sentences("\u00ab Non. \u00bb, dit-il.") == Sentences{"\u00ab Non. \u00bb, dit-il."});
    CHECK(split_sentences("\" Non. \"") == Sentences{"\" Non. \""});
    // These marks open.
    CHECK(split_sentences("Er kam. \u00bbNein.\u00ab Er ging.") ==
          Sentences{"Er kam.", "\u00bbNein.\u00ab", "Er ging."});
    CHECK(split_sentences("Il vint. \u00ab Non. \u00bb") == Sentences{"Il vint.", "\u00ab Non. \u00bb"});
    CHECK(split_sentences("He came. \"Yes.\" He left.") == Sentences{"He came.", "\"Yes.\"", "He left."});
    CHECK(split_sentences("Vino. \u00ab\u00bfNo?\u00bb") == Sentences{"Vino.", "\u00ab\u00bfNo?\u00bb"});
}

TEST_CASE("every Unicode terminal ends a sentence, in some scripts only before a blank") {
    int terminals = 0;
    for (char32_t c = 0; c < kCodePoints; ++c) {
        if (is_surrogate(c)) {
            continue;
        }
        const SentenceTerminal kind = sentence_terminal(c);
        const std::string mark = encoded(c);
        const std::size_t spaced = split_sentences("Wort" + mark + " Wort").size();
        const std::size_t joined = split_sentences("Wort" + mark + "Wort").size();
        if (spaced != (kind == SentenceTerminal::None ? 1 : 2) ||
            joined != (kind == SentenceTerminal::Anywhere ? 2 : 1)) {
            FAIL_CHECK("U+" << std::hex << static_cast<std::uint32_t>(c));
        }
        terminals += kind == SentenceTerminal::None ? 0 : 1;
        if (kind != SentenceTerminal::None) {
            CHECK(utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_PO);
        }
    }
    CHECK(terminals == 154 + 1);  // and the ellipsis
}

TEST_CASE("ends of other scripts") {
    CHECK(split_sentences("\u092f\u0939 \u0918\u0930 \u0939\u0948\u0964 \u0935\u0939\u0964\u0965\u0935\u0939") ==
          Sentences{"\u092f\u0939 \u0918\u0930 \u0939\u0948\u0964", "\u0935\u0939\u0964\u0965", "\u0935\u0939"});
    CHECK(
        split_sentences("\u4ed6\u8bf4\u3002\u201c\u597d\u3002\u201d\u7136\u540e\uff08\u597d\u3002\uff09\u8d70") ==
        Sentences{"\u4ed6\u8bf4\u3002", "\u201c\u597d\u3002\u201d", "\u7136\u540e\uff08\u597d\u3002\uff09", "\u8d70"});
    CHECK(split_sentences("\u5706\u5468\u7387\u662f\uff13\uff0e\uff11\uff14\uff0e\u5bf9\uff1f\u5bf9").size() == 3);
    CHECK(split_sentences("\u0647\u0644 \u062a\u0631\u0649\u061f \u0646\u0639\u0645.").size() == 2);
    CHECK(split_sentences(
              "\u0410. \u0421. \u041f\u0443\u0448\u043a\u0438\u043d. \u042d\u0442\u043e \u044f. \u0414\u0430.")
              .size() == 3);
    CHECK(split_sentences("\u10e1\u10d0\u10ee\u10da\u10d8. \u10d9\u10d0\u10d9\u10d8.").size() == 2);
}

TEST_CASE("generated text loses only white space") {
    const auto characters = std::to_array<std::string_view>(
        {"a",      "B",      "I",      "3",      "\u00e9", "\u5b57", "\u0939", ".",  ".",      "!",         "?",
         "\u2026", "\u3002", "\uff0e", "\uff13", "\u0964", "\u061f", " ",      " ",  "\t",     "\r",        "\f",
         "\u00a0", "\u202f", "\u2028", "\u0085", "\u3000", "\"",     "'",      ")",  "(",      "\u201c",    "\u201d",
         "\u00ab", "\u00bb", "\u300d", "\u200b", "\u0301", "\xff",   "\xe2",   "Dr", "\u2581", "\U0001f600"});
    Random random(7);
    std::size_t several = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string line;
        for (std::uint64_t i = random.below(40); i > 0; --i) {
            line += characters[random.below(characters.size())];
        }
        INFO("'" << line << "'");
        const Sentences usual = split_sentences(line);
        std::string joined;
        std::string refined;
        for (const std::string_view sentence : usual) {
            joined += sentence;
            for (const std::string_view part : split_sentences(sentence, SentenceBreaks::Any)) {
                refined += part;
            }
            CHECK(sentence.data() >= line.data());
            std::size_t at = 0;
            CHECK_FALSE(is_white_space(next_code_point(sentence, at).value_or(0)));
        }
        CHECK(without_white_space(joined) == without_white_space(line));
        CHECK(without_white_space(refined) == without_white_space(line));
        CHECK(split_sentences(line, SentenceBreaks::Any).size() >= usual.size());
        several += usual.size() > 1 ? 1 : 0;
    }
    CHECK(several > 1000);
}

TEST_CASE("a long line without ends does not take quadratic time") {
    // Long enough for quadratic work to meet the time limit of the tests.
    for (const std::string_view part : {"a.", ".\"", "a. ", "\u201c.", "\u3002\u00a0", ". \u00a0", "\"", ")", "\u00bb",
                                        "\u00a0", " ", " )", "\u00ab", "\u0301", "."}) {
        std::string line;
        while (line.size() < (1U << 20U)) {
            line += part;
        }
        CHECK_FALSE(split_sentences(line + "a").empty());
    }
}
