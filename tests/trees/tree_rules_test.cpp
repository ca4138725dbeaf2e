// Sequences that follow the rules are trees, and all trees follow them.
#include "trees/tree_rules.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "support/random.h"
#include "text/tokenizer_training.h"
#include "trees/linearised.h"
#include "trees/tree_vocabulary.h"

using namespace headscope;

namespace {

constexpr const char* kBrackets = "(S )S (NP )NP (X NN VBZ , ( )Y";
constexpr const char* kLevels = "DT)2(NP NN)-1(S VBZ(VP)0(S ,)1(S .) NN(NP) NN)-2(NP X)0(NP";

Tokenizer tokenizer(const char* symbols = kBrackets) {
    return Tokenizer::from_bytes(
        train_tokenizer({.sentences = {symbols}, .type = TokenizerType::Words, .vocabulary_size = 100}), "symbols");
}

std::unique_ptr<const TreeRules> rules_of(const Tokenizer& symbols) {
    return tree_rules(symbols, terminals_in(symbols).value());
}

bool may_follow(const TreeRules& rules, const std::vector<std::int32_t>& written, std::int64_t words, std::int32_t id) {
    const std::vector<std::int32_t> forbidden = rules.forbidden_after(written, words);
    return std::find(forbidden.begin(), forbidden.end(), id) == forbidden.end();
}

}  // namespace

TEST_CASE("every sequence that follows the rules is a tree of its words") {
    for (const char* all : {kBrackets, kLevels}) {
        const Tokenizer symbols = tokenizer(all);
        const Terminals terminals = terminals_in(symbols).value();
        const auto rules = rules_of(symbols);
        Random random(1);
        for (std::int64_t words = 1; words <= 12; ++words) {
            for (int sample = 0; sample < 50; ++sample) {
                std::vector<std::int32_t> written;
                while (true) {
                    std::vector<std::int32_t> allowed;
                    for (std::int32_t id = 0; id < symbols.size(); ++id) {
                        if (may_follow(*rules, written, words, id)) {
                            allowed.push_back(id);
                        }
                    }
                    REQUIRE_FALSE(allowed.empty());
                    const std::int32_t next = allowed[random.below(allowed.size())];
                    if (next == symbols.eos_id()) {
                        break;
                    }
                    written.push_back(next);
                    REQUIRE(written.size() < 10'000);
                }
                const std::vector<std::string> names(static_cast<std::size_t>(words), "a");
                INFO(symbols.decode(written));
                CHECK_FALSE(restored(symbols.decode(written), names, nullptr, terminals).repairs.any());
            }
        }
    }
}

TEST_CASE("every tree follows the rules") {
    const Tokenizer symbols = tokenizer();
    const auto rules = rules_of(symbols);
    for (const std::string& tree : {std::string("(S NN )S"), std::string("(S (NP NN NN )NP VBZ , )S"),
                                    std::string("(S (S (NP NN )NP )S (NP , )NP )S")}) {
        std::vector<std::int32_t> written;
        std::vector<std::int32_t> ids = symbols.encode(tree);
        const auto words = std::count_if(ids.begin(), ids.end(), [&](std::int32_t id) {
            const std::string text = symbols.decode({id});
            return text.front() != '(' && text.front() != ')';
        });
        ids.push_back(symbols.eos_id());
        for (const std::int32_t id : ids) {
            INFO(tree << " after " << written.size());
            CHECK(may_follow(*rules, written, words, id));
            // And with one more word the end may not.
            CHECK_FALSE((id == symbols.eos_id() && may_follow(*rules, written, words + 1, id)));
            written.push_back(id);
        }
    }
}

TEST_CASE("trees of levels follow the rules, and others do not") {
    const Tokenizer symbols = tokenizer(kLevels);
    const auto rules = rules_of(symbols);
    const auto follows = [&](const std::string& sequence, const std::string& symbol, std::int64_t words) {
        return may_follow(*rules, symbols.encode(sequence), words,
                          symbol.empty() ? symbols.eos_id() : symbols.encode(symbol).front());
    };
    CHECK(follows("", "DT)2(NP", 4));
    CHECK(follows("DT)2(NP", "NN)-1(S", 4));
    CHECK(follows("DT)2(NP NN)-1(S", "VBZ(VP)0(S", 4));
    CHECK(follows("DT)2(NP NN)-1(S VBZ(VP)0(S", ".)", 4));
    CHECK(follows("DT)2(NP NN)-1(S VBZ(VP)0(S .)", "", 4));
    CHECK_FALSE(follows("DT)2(NP NN)-1(S VBZ(VP)0(S", ".)", 5));     // not the last word
    CHECK_FALSE(follows("DT)2(NP NN)-1(S VBZ(VP)0(S", ",)1(S", 4));  // the last word
    CHECK_FALSE(follows("DT)2(NP NN)-1(S VBZ(VP)0(S .)", ".)", 4));  // no word
    CHECK_FALSE(follows("DT)2(NP NN)-1(S VBZ(VP)0(S", "", 4));       // a word is missing
    CHECK_FALSE(follows("", "NN)-1(S", 4));                          // nothing is open
    CHECK_FALSE(follows("DT)2(NP NN)-1(S", "X)0(NP", 4));            // it is an S
    CHECK_FALSE(follows("DT)2(NP", "NN)-2(NP", 4));                  // nothing is shared
}
