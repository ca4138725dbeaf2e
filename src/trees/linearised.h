// Trees as sequences of symbols and back (Vinyals et al., 2015, "Grammar as a Foreign Language", section 2):
// (S (NP XX XX )NP (VP XX )VP . )S
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trees/tree.h"

namespace headscope {

// What stands for a word in a sequence: XX, but its tag if that has no letters, as punctuation has (their figure 1);
// its tag; or the word itself. Levels are another form, without brackets as symbols of their own (trees/levels.h): the
// tag with the word's place in the tree.
enum class Terminals : std::uint8_t { Normalised, Tags, Words, Levels };
inline constexpr std::array<const char*, 4> kTerminalNames = {"normalised", "tags", "words", "levels"};
inline constexpr const char* kAnyTag = "XX";

// The symbols, separated by blanks.
std::string linearised(const Tree& tree, Terminals terminals);

// What the terminals among the symbols of sequences are: normalised if only XX has letters, words if any has small
// letters or is beyond ASCII, or else tags.
Terminals terminals_among(const std::vector<std::string>& symbols);

// How often a sequence of symbols broke the rules of trees.
struct Repairs {
    std::int64_t dropped_symbols = 0;    // that are no symbols of trees, such as "(" and "a(", or too deep
    std::int64_t dropped_closings = 0;   // of a constituent that is not open
    std::int64_t added_closings = 0;     // of constituents that were open at the end or inside of a closed one
    std::int64_t dropped_terminals = 0;  // after the last word
    std::int64_t added_words = 0;        // that lacked a terminal
    std::int64_t empty = 0;              // constituents without a word
    std::int64_t joined = 0;             // trees beside the first one; of levels, words that shared nothing

    bool any() const { return *this != Repairs(); }
    Repairs& operator+=(const Repairs& other);
    bool operator==(const Repairs&) const = default;
};

struct Restored {
    Tree tree;
    Repairs repairs;
};

// The tree of a sequence over these words: the n-th terminal stands for the n-th word. Every sequence gives a tree that
// holds each word once, in order. Symbols are read from left to right:
// - Brackets without a label, symbols with another bracket inside, and (X deeper than a tree may be are left out.
// - )X closes the innermost open X and everything opened inside it; it is left out if no X is open.
// - Terminals after the last word are left out. Words without a terminal are added to the end of the outermost
//   constituent, and what is open then is closed.
// - Constituents without a word are left out. TOP is put over several trees, or over several words outside of any
// constituent. The tag of a word is that of `tags`, unless that is null, or else the terminal, if that is a tag, or
// else usual_tag(). Error if there are no words, if there are tags but not one for each word, and for brackets in
// words.
Restored restored(std::string_view sequence, const std::vector<std::string>& words,
                  const std::vector<std::string>* tags, Terminals terminals);

// The tree of the first of several sequences for the same words that needs no repairs, or else of the first. Errors are
// those of restored(), and if there is no sequence.
Restored best_restored(const std::vector<std::string>& sequences, const std::vector<std::string>& words,
                       const std::vector<std::string>* tags, Terminals terminals);

// The tag of a word of which nothing but its letters is known: the Penn Treebank's for punctuation and brackets, else
// XX.
std::string usual_tag(std::string_view word);

}  // namespace headscope
