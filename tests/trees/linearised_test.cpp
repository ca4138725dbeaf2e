#include "trees/linearised.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/random.h"
#include "tests/io/temporary_folder.h"
#include "trees/tree_reader.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

namespace {

constexpr const char* kCat = "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))";

Tree tree_of(const std::string& line) {
    return parse_trees(line, "here").front();
}

Restored from(const std::string& sequence, const std::string& words, const std::string& tags = "",
              Terminals terminals = Terminals::Normalised) {
    const Texts given = split_at_blanks(tags);
    return restored(sequence, split_at_blanks(words), given.empty() ? nullptr : &given, terminals);
}

std::string line_from(const std::string& sequence, const std::string& words) {
    return to_line(from(sequence, words).tree);
}

// A tree of the grammar of trees: any labels, any number of children.
Tree random_tree(Random& random, int depth) {
    if (depth == 0 || random.below(3) == 0) {
        return {random.below(2) == 0 ? "NN" : ",", std::string(1, static_cast<char>('a' + random.below(26)))};
    }
    Tree tree{random.below(2) == 0 ? "NP" : "S"};
    for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
        tree.children.push_back(random_tree(random, depth - 1));
    }
    return tree;
}

}  // namespace

TEST_CASE("trees become sequences", "[trees]") {
    CHECK(linearised(tree_of(kCat), Terminals::Normalised) == "(S (NP XX XX )NP (VP XX )VP . )S");
    CHECK(linearised(tree_of("(S (PRP$ a) ($ b) (`` c) (-LRB- d) (Ä e))"), Terminals::Normalised) ==
          "(S XX $ `` XX XX )S");
    CHECK(linearised(tree_of(kCat), Terminals::Tags) == "(S (NP DT NN )NP (VP VBZ )VP . )S");
    CHECK(linearised(tree_of(kCat), Terminals::Words) == "(S (NP The cat )NP (VP sleeps )VP . )S");
}

TEST_CASE("and trees again", "[trees]") {
    Random random(7);
    for (int i = 0; i < 300; ++i) {
        const Tree tree = random_tree(random, 5);
        for (const Terminals terminals :
             {Terminals::Normalised, Terminals::Tags, Terminals::Words, Terminals::Levels}) {
            const std::string sequence = linearised(tree, terminals);
            CAPTURE(sequence);
            const Restored back = from(sequence, words_of(tree), tags_of(tree), terminals);
            CHECK(back.tree == tree);
            CHECK_FALSE(back.repairs.any());
        }
        CHECK(from(linearised(tree, Terminals::Tags), words_of(tree), "", Terminals::Tags).tree == tree);
    }
}

TEST_CASE("tags come from the tags, the terminals or the word", "[trees]") {
    CHECK(to_line(from("(S XX XX )S", "a ,", "DT ,").tree) == "(S (DT a) (, ,))");
    CHECK(to_line(from("(S X Y )S", "a ,", "DT ,", Terminals::Tags).tree) == "(S (DT a) (, ,))");
    CHECK(to_line(from("(S X Y )S", "a ,", "", Terminals::Tags).tree) == "(S (X a) (Y ,))");
    CHECK(to_line(from("(S X Y )S", "a ,", "", Terminals::Words).tree) == "(S (XX a) (, ,))");
    CHECK(line_from("(S XX : , )S", "a ' ,") == "(S (XX a) (: ') (, ,))");
    CHECK(line_from("(S XX XX XX XX )S", "a ? -LRB- ''") == "(S (XX a) (. ?) (-LRB- -LRB-) ('' ''))");
}

TEST_CASE("malformed sequences are repaired and counted", "[trees]") {
    const auto repairs = [](const std::string& sequence, const std::string& words) {
        return from(sequence, words).repairs;
    };
    // Never opened.
    CHECK(line_from("(S XX )NP )S )S", "a") == "(S (XX a))");
    CHECK(repairs("(S XX )NP )S )S", "a") == Repairs{.dropped_closings = 2});
    // Never closed, at the end and inside of what is closed.
    CHECK(line_from("(S (NP XX (VP XX", "a b") == "(S (NP (XX a) (VP (XX b))))");
    CHECK(repairs("(S (NP XX (VP XX", "a b") == Repairs{.added_closings = 3});
    CHECK(line_from("(S (NP (X XX )NP XX )S", "a b") == "(S (NP (X (XX a))) (XX b))");
    CHECK(repairs("(S (NP (X XX )NP XX )S", "a b") == Repairs{.added_closings = 1});
    // The innermost of equal ones is closed.
    CHECK(line_from("(NP (NP XX )NP XX )NP", "a b") == "(NP (NP (XX a)) (XX b))");
    // Too many terminals, too few.
    CHECK(line_from("(S XX (NP XX XX )NP )S", "a") == "(S (XX a))");
    CHECK(repairs("(S XX (NP XX XX )NP )S", "a") == Repairs{.dropped_terminals = 2, .empty = 1});
    CHECK(line_from("(S (NP XX )NP )S", "a b c") == "(S (NP (XX a)) (XX b) (XX c))");
    CHECK(repairs("(S (NP XX )NP )S", "a b c") == Repairs{.added_words = 2});
    CHECK(line_from("(S (NP XX", "a b") == "(S (NP (XX a)) (XX b))");
    CHECK(repairs("(S (NP XX", "a b") == Repairs{.added_closings = 2, .added_words = 1});
    // Several trees, and words outside.
    CHECK(line_from("(S XX )S (NP XX )NP XX", "a b c d") == "(TOP (S (XX a)) (NP (XX b)) (XX c) (XX d))");
    CHECK(repairs("(S XX )S (NP XX )NP", "a b") == Repairs{.joined = 1});
    // Nothing at all.
    CHECK(line_from("", "a b") == "(TOP (XX a) (XX b))");
    CHECK(line_from("(S (NP )NP )S", "a b") == "(TOP (XX a) (XX b))");
    // No symbols at all.
    CHECK(line_from("( (S X( XX (S( )S) ) )S", "a") == "(S (XX a))");
    CHECK(repairs("( (S X( XX (S( )S) ) )S", "a") == Repairs{.dropped_symbols = 5});
    std::string deep;
    for (int i = 0; i < 998; ++i) {
        deep += "(S ";
    }
    const Tree deepest = from(deep + "XX", "a").tree;
    CHECK(parse_trees("(TOP " + to_line(deepest) + ")", "here").front().children.front() == deepest);
    CHECK(from(deep + "(S (S XX", "a").tree == deepest);
    CHECK(repairs(deep + "(S (S XX", "a") == Repairs{.dropped_symbols = 2, .added_closings = 998});
    CHECK_THAT(error_of([] { from("(S XX )S", "a(b"); }), Contains("\"a(b\" contains a bracket"));
    CHECK_THAT(error_of([] { from("(S XX )S", ""); }), Contains("at least one word"));
    CHECK_THAT(error_of([] { from("(S XX )S", "a b", "DT"); }), Contains("one tag for each of 2 words, found 1 tag"));
    const Texts none;
    CHECK_THAT(error_of([&] { restored("(S XX )S", {"a"}, &none, Terminals::Normalised); }), Contains("found 0 tags"));
}

TEST_CASE("the symbols show what terminals are", "[trees]") {
    CHECK(terminals_among({"(s", ")s", "XX", ",", "``"}) == Terminals::Normalised);
    CHECK(terminals_among({"(S", ")S", "XX", "NN", "PRP$", ","}) == Terminals::Tags);
    CHECK(terminals_among({"(S", ")S", "NN", "the", "XX"}) == Terminals::Words);
    CHECK(terminals_among({"(S", ")S", "猫"}) == Terminals::Words);
}

TEST_CASE("of several sequences the first that is a tree is taken", "[trees]") {
    const auto best = [](const Texts& sequences) {
        const Restored found = best_restored(sequences, {"a", "b"}, nullptr, Terminals::Normalised);
        return to_line(found.tree) + (found.repairs.any() ? " repaired" : "");
    };
    CHECK(best({"(S XX )S", "(NP XX XX )NP", "(VP XX XX )VP"}) == "(NP (XX a) (XX b))");
    CHECK(best({"(S XX )S", "(NP XX XX"}) == "(S (XX a) (XX b)) repaired");
    CHECK_THAT(error_of([&] { best({}); }), Contains("no sequence"));
}

TEST_CASE("any sequence gives a tree with each word once", "[trees]") {
    const Texts symbols{"(S", "(NP", ")S", ")NP", "XX", "XX", "(", ")", "(S(", "a)"};
    Random random(3);
    for (int i = 0; i < 2000; ++i) {
        std::string sequence;
        for (std::uint64_t left = random.below(12); left > 0; --left) {
            sequence += symbols[random.below(symbols.size())] + " ";
        }
        CAPTURE(sequence);
        CHECK(words_of(from(sequence, "a b c d").tree) == "a b c d");
    }
}
