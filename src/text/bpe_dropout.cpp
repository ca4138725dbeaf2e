#include "text/bpe_dropout.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/check.h"
#include "text/character_bounds.h"

namespace headscope {

BpeDropout::BpeDropout(const Tokenizer& tokenizer, double dropout)
    : threshold_(static_cast<std::uint64_t>(std::ldexp(dropout, 64))) {
    HEADSCOPE_CHECK(dropout >= 0.0 && dropout < 1.0, "dropout must be in [0, 1)");
    if (tokenizer.type() != TokenizerType::Bpe) {
        throw Error(fmt::format(
            "BPE-dropout needs a BPE tokenizer, but '{}' is not one: train a tokenizer of the type \"bpe\", "
            "or remove \"bpe_dropout\"",
            tokenizer.name()));
    }
    const auto id_of = [&](std::string_view piece) { return tokenizer.id_of(piece); };
    const std::int32_t unknown = tokenizer.unk_id();
    for (std::int32_t id = 0; id < tokenizer.size(); ++id) {
        const auto& [piece, kind, score] = tokenizer.vocabulary().piece(id);
        begins_word_.push_back(begins_word(piece, tokenizer.type()));
        characters_.push_back({id});
        if (kind != PieceKind::Normal) {
            continue;
        }
        const std::vector<std::size_t> at = character_bounds(piece);
        std::vector<std::int32_t> characters;
        for (std::size_t i = 0; i + 1 < at.size(); ++i) {
            characters.push_back(id_of(std::string_view(piece).substr(at[i], at[i + 1] - at[i])));
            const std::int32_t left = i == 0 ? unknown : id_of(std::string_view(piece).substr(0, at[i]));
            const std::int32_t right = i == 0 ? unknown : id_of(std::string_view(piece).substr(at[i]));
            if (left != unknown && right != unknown) {
                merges_[key(left, right)] = {id, score};
            }
        }
        if (std::find(characters.begin(), characters.end(), unknown) == characters.end()) {
            characters_.back() = std::move(characters);
        }
    }
}

std::vector<std::int32_t> BpeDropout::sample(const std::vector<std::int32_t>& ids, Random& random) const {
    std::vector<std::int32_t> result;
    std::vector<std::int32_t> word;
    for (std::size_t i = 0; i <= ids.size(); ++i) {
        if (i == ids.size() || begins_word_[static_cast<std::size_t>(ids[i])]) {
            merge(word, random);
            result.insert(result.end(), word.begin(), word.end());
            word.clear();
        }
        if (i < ids.size()) {
            const std::vector<std::int32_t>& characters = characters_[static_cast<std::size_t>(ids[i])];
            word.insert(word.end(), characters.begin(), characters.end());
        }
    }
    return result;
}

const BpeDropout::Merge* BpeDropout::merge_of(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

// In each step merges the best pair, the first of equals; each pair is randomly skipped for this step.
void BpeDropout::merge(std::vector<std::int32_t>& symbols, Random& random) const {
    std::vector<const Merge*> merges;  // of each symbol with the next
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
        merges.push_back(merge_of(symbols[i], symbols[i + 1]));
    }
    for (;;) {
        const Merge* best = nullptr;
        std::size_t where = 0;
        for (std::size_t i = 0; i < merges.size(); ++i) {
            const bool possible = merges[i] != nullptr && !(threshold_ > 0 && random.next() < threshold_);
            if (possible && (best == nullptr || merges[i]->score > best->score)) {
                best = merges[i];
                where = i;
            }
        }
        if (best == nullptr) {
            return;
        }
        symbols[where] = best->merged;
        symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
        merges.erase(merges.begin() + static_cast<std::ptrdiff_t>(where));
        if (where > 0) {
            merges[where - 1] = merge_of(symbols[where - 1], symbols[where]);
        }
        if (where < merges.size()) {
            merges[where] = merge_of(symbols[where], symbols[where + 1]);
        }
    }
}

}  // namespace headscope
