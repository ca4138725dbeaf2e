// Sequences that follow the rules are trees, and all trees follow them.
#include "trees/tree_rules.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/random.h"
#include "text/tokenizer_training.h"
#include "trees/linearised.h"

using namespace headscope;

namespace {

constexpr const char* kSymbols = "(S )S (NP )NP (X NN VBZ , ( )Y";

Tokenizer tokenizer() {
    return Tokenizer::from_bytes(
        train_tokenizer({.sentences = {kSymbols}, .type = TokenizerType::Words, .vocabulary_size = 100}), "symbols");
}

bool may_follow(const TreeRules& rules, const std::vector<std::int32_t>& written, std::int64_t words, std::int32_t id) {
    const std::vector<std::int32_t> forbidden = rules.forbidden_after(written, words);
    return std::find(forbidden.begin(), forbidden.end(), id) == forbidden.end();
}

}  // namespace

TEST_CASE("every sequence that follows the rules is a tree of its words") {
    const Tokenizer symbols = tokenizer();
    const TreeRules rules(symbols);
    Random random(1);
    for (std::int64_t words = 1; words <= 12; ++words) {
        for (int sample = 0; sample < 50; ++sample) {
            std::vector<std::int32_t> written;
            while (true) {
                std::vector<std::int32_t> allowed;
                for (std::int32_t id = 0; id < static_cast<std::int32_t>(symbols.vocabulary().pieces().size()); ++id) {
                    if (may_follow(rules, written, words, id)) {
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
            CHECK_FALSE(restored(symbols.decode(written), names, nullptr, Terminals::Tags).repairs.any());
        }
    }
}

TEST_CASE("every tree follows the rules") {
    const Tokenizer symbols = tokenizer();
    const TreeRules rules(symbols);
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
            CHECK(may_follow(rules, written, words, id));
            // And with one more word the end may not.
            CHECK_FALSE((id == symbols.eos_id() && may_follow(rules, written, words + 1, id)));
            written.push_back(id);
        }
    }
}
