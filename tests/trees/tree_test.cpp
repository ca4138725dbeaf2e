#include "trees/tree.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "trees/tree_reader.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

namespace {

Texts lines_of(const std::vector<Tree>& trees) {
    Texts lines;
    for (const Tree& tree : trees) {
        lines.push_back(to_line(tree));
    }
    return lines;
}

Texts read(const std::string& text) {
    return lines_of(parse_trees(text, "here"));
}

std::string problem(const std::string& text) {
    return error_of([&] { parse_trees(text, "here"); });
}

std::string bare(const std::string& line) {
    const std::optional<Tree> tree = without_traces(parse_trees(line, "here").front());
    return tree ? to_line(*tree) : "";
}

}  // namespace

TEST_CASE("trees are read with any white space", "[trees]") {
    const Texts cat{"(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))"};
    CHECK(read(cat.front()) == cat);
    CHECK(read("( (S (NP (DT The) (NN cat) ) (VP (VBZ sleeps) ) (. .) ))") == cat);
    CHECK(read("(S(NP(DT The)(NN\tcat))\r\n  (VP ( VBZ sleeps )) (. .))\n") == cat);
    CHECK(read("") == Texts());
    CHECK(read("(S (A a)) (B b)") == Texts{"(S (A a))", "(B b)"});
    CHECK(read("((S (A a)) (S (B b)))") == Texts{"(TOP (S (A a)) (S (B b)))"});
    CHECK(read("(NP (NNP Zo\u00eb\u00a0X))") == Texts{"(NP (NNP Zo\u00eb\u00a0X))"});
}

TEST_CASE("a file's trees may extend over several lines", "[trees]") {
    TemporaryFolder folder;
    TreeReader reader(folder.write("my.trees", "\n( (S\n  (NP (NN a))\n\n (VP (VB b)))\n)(X\n(C c)) (D d)\n"));
    Texts found;
    for (Tree tree; reader.next(tree);) {
        found.push_back(to_line(tree));
    }
    CHECK(found == Texts{"(S (NP (NN a)) (VP (VB b)))", "(X (C c))", "(D d)"});
}

TEST_CASE("mistakes in trees are named", "[trees]") {
    CHECK_THAT(problem("(S (A a)))"), Contains("here: ) without ("));
    CHECK_THAT(problem("(S (A a)"), Contains("here: 1 bracket of this tree"));
    CHECK_THAT(problem("(S (NP (A a)"), Contains("here: 2 brackets of this tree are never closed"));
    CHECK_THAT(problem("(S (NP) (A a))"), Contains("here: the tree (NP) is empty"));
    CHECK_THAT(problem("()"), Contains("here: the tree () is empty"));
    CHECK_THAT(problem("(S ((A a)))"), Contains("here: a bracket has no label"));
    CHECK_THAT(problem("(S (A a b))"), Contains("expected ) after the word \"a\", found \"b\""));
    CHECK_THAT(problem("(S (A a (B b)))"), Contains("expected ) after the word \"a\", found ("));
    CHECK_THAT(problem("(S (A a(b))"), Contains("the word \"a(\" contains a bracket: write ( and ) in words as -LRB-"));
    CHECK_THAT(problem("(S (A a)b)"), Contains("expected ( or ) in (S ...), found \"b\""));
    CHECK_THAT(problem("S"), Contains("expected a tree, which begins with (, found \"S\""));
    std::string deep;
    for (int i = 0; i < 1001; ++i) {
        deep += "(A ";
    }
    CHECK_THAT(problem(deep), Contains("more than 1000 brackets are open"));

    TemporaryFolder folder;
    const auto file_problems = [&](const std::string& text, const std::string& whole) {
        TreeReader reader(folder.write("my.trees", text));
        std::string found;
        for (Tree tree; reader.next(tree);) {
            found += to_line(tree);
        }
        CHECK(found == whole);
        return reader.problems();
    };
    CHECK_THAT(file_problems("(A a)\n(B b))\n", "(A a)").at(0), Contains("my.trees' line 2: ) without ("));
    CHECK_THAT(file_problems("(A a)\n(B\n(C c)\n", "(A a)(C c)").at(0),
               Contains("my.trees' line 2: 1 bracket of this tree is never closed"));
    const std::vector<std::string> all = file_problems(
        "(A a)\n(B (C c)\n(D d)\n(E e)))\n(F\n (G g)\n (H h i)\n (J j))\n(K\n (L l))\n(M ())\n(N n)\n(O\n (P p)",
        "(A a)(D d)(K (L l))(N n)");
    REQUIRE(all.size() == 5);
    CHECK_THAT(all[0], Contains("line 2: 1 bracket"));
    CHECK_THAT(all[1], Contains("line 4: ) without ("));
    CHECK_THAT(all[2], Contains("line 7: expected ) after the word"));
    CHECK_THAT(all[3], Contains("line 11: the tree () is empty"));
    CHECK_THAT(all[4], Contains("line 13: 1 bracket"));
    CHECK_THAT(all[2], Contains("; 1 line after it was passed over"));
    CHECK_THAT(file_problems("(A a)\n  (B b))\n  (C c)\n  (D d)\n", "(A a)").at(0),
               Contains("line 2: ) without (") && Contains("; 2 lines after it were passed over"));
    CHECK(file_problems("(A\n(B b)\n(C c))\n", "(A (B b) (C c))").empty());
}

TEST_CASE("traces, functional tags and indices are removed", "[trees]") {
    CHECK(bare("( (S (NP-SBJ-1 (NN a)) (VP=2 (VBN b) (NP-1 (-NONE- *)) (SBAR (-NONE- 0) (S (-NONE- *T*-1))))))") ==
          "(S (NP (NN a)) (VP (VBN b)))");
    CHECK(bare("(NP (NP (NN a)))") == "(NP (NP (NN a)))");
    CHECK(bare("(PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-))") == "(PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-))");
    CHECK(bare("(-X-1 (PRP$-x a-b=c))") == "(-X (PRP$-x a-b=c))");
    CHECK(bare("(ADVP|PRT (RP up))") == "(ADVP|PRT (RP up))");
    CHECK(bare("(S (NP (-NONE- *)))").empty());
}

TEST_CASE("trees are written over several lines", "[trees]") {
    const std::string text =
        "(S\n"
        "  (NP (DT The) (NN cat))\n"
        "  (VP\n"
        "    (VBZ sits)\n"
        "    (ADVP (RB here)))\n"
        "  (. .))\n";
    CHECK(to_indented(parse_trees(text, "here").front()) == text);
    CHECK(words_of(parse_trees(text, "here").front()) == "The cat sits here .");
    CHECK(tags_of(parse_trees(text, "here").front()) == "DT NN VBZ RB .");
}
