// Trees as one symbol for each word.
#include "trees/levels.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "trees/tree_reader.h"
#include "trees/tree_vocabulary.h"

using namespace headscope;
using Texts = std::vector<std::string>;

namespace {

Tree levels_tree(const std::string& line) {
    return parse_trees(line, "here").front();
}

Restored from_levels(const std::string& sequence, const std::string& words) {
    return restored(sequence, split_at_blanks(words), nullptr, Terminals::Levels);
}

std::string level_line(const std::string& sequence, const std::string& words) {
    return to_line(from_levels(sequence, words).tree);
}

Repairs repairs_of(const std::string& sequence, const std::string& words) {
    return from_levels(sequence, words).repairs;
}

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) {
        all += text;
    }
    return all;
}

// Whether the tree may be written and read, as all trees may.
bool is_readable(const Restored& restored) {
    return levels_tree(to_line(restored.tree)) == restored.tree;
}

}  // namespace

TEST_CASE("a word's symbol says what it shares with the next one", "[levels]") {
    CHECK(linearised(levels_tree("(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))"), Terminals::Levels) ==
          "DT)2(NP NN)-1(S VBZ(VP)0(S .)");
    CHECK(level_sequence(levels_tree("(TITLE (NP (NP (NN A)) (PP (IN of) (NP (NN B)))))")) ==
          "NN(NP)1(TITLE(NP IN)1(PP NN(NP)");
    CHECK(level_sequence(levels_tree("(HEADING (NP (NN Abstract)))")) == "NN(HEADING(NP)");
    CHECK(level_sequence(levels_tree("(NN a)")) == "NN)");
    CHECK(level_sequence(levels_tree("(X (A (B a) (C b)) (D c) (E (F d) (G e)))")) == "B)2(A C)-1(X D)0(X F)1(E G)");
}

TEST_CASE("symbols of levels are told from others", "[levels]") {
    for (const char* text : {"NN)", "DT)2(NP", "NN(HEADING(NP)", "-LRB-)-3(S(VP", ",)0(NP", "a/b)1(c/d"}) {
        INFO(text);
        const auto symbol = level_symbol(text);
        REQUIRE(symbol.has_value());
        CHECK(to_text(*symbol) == text);
    }
    for (const char* text :
         {"", ")", "NN", "(S", ")S", "NN()", "NN(()", "NN)2", "NN)2(", "NN)(NP", "NN)2(NP)", "NN)2((NP", "NN)2.5(NP",
          "NN)9999999(NP", "NN)-99999999999999999999(NP", ")1(NP", "NN)1(NP("}) {
        INFO(text);
        CHECK_FALSE(level_symbol(text).has_value());
    }
    CHECK(terminals_of({"NN)", "DT)2(NP"}) == Terminals::Levels);
    CHECK_FALSE(terminals_of({"NN)", "DT)2(NP", "der"}).has_value());
    CHECK(terminals_of_sequences({"(S NN )S", "(S XX )S"}) == Terminals::Tags);
    CHECK_FALSE(terminals_of_sequences({}).has_value());
}

TEST_CASE("every sequence of levels gives a tree", "[levels]") {
    CHECK(level_line("DT)2(NP NN)-1(S VBZ(VP)0(S .)", "The cat sleeps .") ==
          "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))");
    CHECK_FALSE(repairs_of("DT)2(NP NN)-1(S VBZ(VP)0(S .)", "The cat sleeps .").any());
    // What nothing names is no constituent.
    CHECK(level_line("A)7(X B)", "a b") == "(X (A a) (B b))");
    CHECK_FALSE(repairs_of("A)7(X B)", "a b").any());
    // The first name counts.
    CHECK(level_line("A)1(X B)0(Y C)", "a b c") == "(X (A a) (B b) (C c))");
    CHECK(repairs_of("A)1(X B)0(Y C)", "a b c").dropped_closings == 1);
    // Words that share nothing.
    CHECK(level_line("A) B)", "a b") == "(TOP (A a) (B b))");
    CHECK(repairs_of("A) B)", "a b").joined == 1);
    CHECK(level_line("A)1(X B)-1(Y C)", "a b c") == "(X (A a) (B b) (C c))");
    CHECK(repairs_of("A)1(X B)-1(Y C)", "a b c").joined == 1);
    // Too many symbols, other ones, and too few.
    CHECK(level_line("A)1(X oh B) C)", "a b") == "(X (A a) (B b))");
    CHECK(repairs_of("A)1(X oh B) C)", "a b").dropped_symbols == 1);
    CHECK(repairs_of("A)1(X oh B) C)", "a b").dropped_terminals == 1);
    CHECK(level_line("A)1(X B)1(Y", "a b c .") == "(X (A a) (Y (B b) (XX c)) (. .))");
    CHECK(repairs_of("A)1(X B)1(Y", "a b c .").added_words == 2);
    CHECK(level_line("", "a b") == "(TOP (XX a) (XX b))");
    CHECK(repairs_of("A)1(X", "a").added_closings == 1);
    CHECK_THROWS(from_levels("A)", ""));
}

TEST_CASE("trees of levels are not deeper than trees may be", "[levels]") {
    const std::string words = repeated("a ", 2500);
    for (const std::string& sequence :
         {repeated("A)1(X ", 2499) + "A)", "A)2500(X " + repeated("A)-1(X ", 2498) + "A)",
          repeated("A(Q(R)1(X(Y ", 2499) + "A)", "A)2500(X(Y " + repeated("A(Q)-1(X(Y ", 2498) + "A)",
          repeated("A)5(X A)-5(X ", 1249) + "A)1(X A)"}) {
        const Restored deep = from_levels(sequence, words);
        CHECK(split_at_blanks(words_of(deep.tree)).size() == 2500);
        CHECK(is_readable(deep));
    }
    CHECK(repairs_of(repeated("A)1(X ", 2499) + "A)", words).dropped_symbols > 1000);
    CHECK_FALSE(repairs_of("A)1(X" + repeated(" A)0(X", 2498) + " A)", words).any());
}
