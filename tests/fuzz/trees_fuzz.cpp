// Any bytes as trees, as a sequence of symbols and as rules for scores: rejected with an Error, or usable. Trees are
// the same after they are written and read, also as sequences, and equal themselves; every sequence gives a tree.
#include <optional>

#include "tests/fuzz/fuzz.h"
#include "trees/linearised.h"
#include "trees/tree_reader.h"
#include "trees/tree_score.h"

using namespace headscope;

namespace {

void check_tree(const Tree& tree) {
    HEADSCOPE_CHECK(parse_trees(to_line(tree), "again") == std::vector<Tree>{tree}, "another tree");
    HEADSCOPE_CHECK(parse_trees(to_indented(tree), "again") == std::vector<Tree>{tree}, "another tree, indented");
    const std::vector<std::string> words = split_at_blanks(words_of(tree));
    const std::vector<std::string> tags = split_at_blanks(tags_of(tree));
    for (const Terminals terminals : {Terminals::Normalised, Terminals::Tags, Terminals::Words, Terminals::Levels}) {
        const Restored back = restored(linearised(tree, terminals), words, &tags, terminals);
        HEADSCOPE_CHECK(back.tree == tree && !back.repairs.any(), "another tree from its sequence");
    }
    const TreeScore score = score_trees({tree}, {tree}, {});
    HEADSCOPE_CHECK(score.status == ScoreStatus::Skipped || (score.exact() && score.crossing == 0),
                    "a tree that differs from itself");
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    return {"( (S (NP-SBJ-1 (DT The) (NN cat)) (VP=2 (VBZ is) (NP (-NONE- *)))\n (. .)) )",
            "(S (A a)) (B b)((S (A a)) (S (`` \")))",
            "(S (NP XX )NP (VP XX )VP XX )S",
            "DT)2(NP NN(A(B)-1(S(T .)",
            ")S (S (NP XX )S XX XX XX",
            "# x\nDELETE_LABEL TOP\nEQ_LABEL ADVP PRT\nCUTOFF_LEN 40\nQUOTE_LABEL ``\nLABELED 0\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = as_text(data, size);
    run_or_refuse([&] {
        for (const Tree& tree : parse_trees(bytes, "fuzz")) {
            check_tree(tree);
            if (const std::optional<Tree> rest = without_traces(tree)) {
                check_tree(*rest);
            }
        }
    });
    run_or_refuse([&] {
        for (const Terminals terminals : {Terminals::Normalised, Terminals::Tags, Terminals::Levels}) {
            const Restored found = restored(bytes, {"a", "b", ","}, nullptr, terminals);
            HEADSCOPE_CHECK(words_of(found.tree) == "a b ,", "other words");
            check_tree(found.tree);
        }
    });
    run_or_refuse([&] {
        const MemoryFile file(bytes);
        const ScoreRules rules = read_score_rules(file.path());
        score_trees(parse_trees("(S (`` ') (A a))", "gold"), parse_trees("(S (POS ') (B a))", "test"), rules);
    });
    return 0;
}
