// Trees as one symbol for each word (Gómez-Rodríguez and Vilares, 2018, "Constituent Parsing as Sequence Labeling"):
// how many constituents a word shares with the next one, and what the innermost of these is.
// DT)2(NP NN)-1(S VBZ(VP)0(S .)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trees/linearised.h"
#include "trees/tree.h"

namespace headscope {

// A constituent whose only child is a constituent counts as one with it, with both labels: "TITLE(NP".
struct LevelSymbol {
    std::string tag;
    std::string alone = {};   // "(NP": the constituents of this word alone, from the outermost; may be empty
    std::int64_t rise = 0;    // the constituents shared with the next word less those shared with the word before
    std::string shared = {};  // "NP": the innermost one that is shared with the next word; empty at the last word
};

// "DT)2(NP": the tag, what is of the word alone, ")", and, but at the last word, the rise and what is shared.
std::string to_text(const LevelSymbol& symbol);
// std::nullopt if it is no such symbol.
std::optional<LevelSymbol> level_symbol(std::string_view text);

// The symbols of a tree, one for each word, separated by blanks.
std::string level_sequence(const Tree& tree);

// The tree of a sequence of symbols over these words, of which there is at least one. Every sequence gives a tree that
// holds each word once, in order. The first symbol that names what two words share labels it; symbols are repaired by
// these rules:
// - What is no such symbol is left out, and so are those after the last word.
// - A word that shares nothing with the next one shares the outermost constituent, or TOP if there is none yet.
// - A word without a symbol is added to the outermost constituent.
// - Constituents deeper than a tree may be are left out.
// The tag of a word is that of `tags`, unless that is null, or else the symbol's, or else usual_tag().
Restored restored_levels(std::string_view sequence, const std::vector<std::string>& words,
                         const std::vector<std::string>* tags);

}  // namespace headscope
