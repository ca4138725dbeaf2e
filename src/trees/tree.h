// Constituency trees in the notation of the Penn Treebank: (S (NP (DT The) (NN cat)) (VP (VBZ sleeps))).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

// A constituent with its children from left to right, or a leaf: a word with its part-of-speech tag as label.
struct Tree {
    std::string label;
    std::string word = {};
    std::vector<Tree> children = {};

    bool is_leaf() const { return children.empty(); }
    bool operator==(const Tree&) const = default;
};

// Brackets around one another, with that of the word: recursion over a tree must not exhaust the stack.
inline constexpr std::size_t kDeepestTree = 1000;
// The label of a bracket over several trees of one sentence.
inline constexpr const char* kTopLabel = "TOP";
// The label of leaves without words, such as traces.
inline constexpr const char* kTraceLabel = "-NONE-";

// "(S (NP (DT The) (NN cat)) ...)"
std::string to_line(const Tree& tree);
// The same with one line for each constituent that contains another one, indented by its depth. Ends with a line break.
std::string to_indented(const Tree& tree);

std::vector<const Tree*> leaves_of(const Tree& tree);
// The words, or the tags, separated by blanks.
std::string words_of(const Tree& tree);
std::string tags_of(const Tree& tree);

// The parts of a text between white space of ASCII, which separates the symbols and words of trees.
std::vector<std::string> split_at_blanks(std::string_view text);

// Without traces and the constituents that contain nothing else, and with bare labels: those of constituents end before
// their first - or = after their first character. The tags of words stay. Nothing if the tree holds only traces.
std::optional<Tree> without_traces(const Tree& tree);

}  // namespace headscope
