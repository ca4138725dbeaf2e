// Reads trees in the notation of the Penn Treebank, with any white space between brackets, labels and words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "text/lines.h"
#include "trees/tree.h"

namespace headscope {

// An outermost bracket without a label, as in ( (S ...) ). Left out: it is (S ...), and TOP is over several trees in
// one such bracket. Kept: a constituent with an empty label, which EVALB counts.
enum class EmptyBracket : std::uint8_t { LeftOut, Kept };

// Reads lines; a tree may extend over several. Errors begin with the line's `place`, such as "'x.trees' line 3".
class TreeParser {
public:
    explicit TreeParser(EmptyBracket empty = EmptyBracket::LeftOut) : empty_(empty) {}

    // Returns the trees that end in this line.
    std::vector<Tree> read(std::string_view line, const std::string& place);
    // Error if the last tree is not closed.
    void finish() const;
    bool within_tree() const { return !open_.empty(); }

private:
    void open(const std::string& place);
    void close(const std::string& place, std::vector<Tree>& trees);
    void add(std::string token, bool bracket_follows, const std::string& place);

    struct Open {
        Tree tree;
        bool labelled = false;
    };
    EmptyBracket empty_;
    std::vector<Open> open_;
    std::string begin_;  // the place of the first open bracket
};

// All trees of a complete text. Errors as those of TreeParser.
std::vector<Tree> parse_trees(std::string_view text, const std::string& place,
                              EmptyBracket empty = EmptyBracket::LeftOut);

// Reads the trees of a file, plain or compressed, and passes over broken ones. Where one ends follows from a line that
// begins with a bracket in its first column.
class TreeReader {
public:
    explicit TreeReader(const std::string& path) : lines_(path) {}

    // False at the end.
    bool next(Tree& tree);
    // What is wrong with each broken tree so far; names file and line.
    const std::vector<std::string>& problems() const { return problems_; }

private:
    struct Line {
        std::string text, place;
    };
    void read(Line line);
    // Reads the lines since the last whole tree again, each group from one first column's bracket on by itself.
    void recover(bool at_end);
    // Says so in the message of the broken tree.
    void report_passed_over();

    LineReader lines_;
    TreeParser parser_;
    std::vector<Line> pending_;    // since the last whole tree
    bool skipping_ = false;        // behind a broken tree
    std::size_t passed_over_ = 0;  // lines behind it
    std::vector<std::string> problems_;
    std::deque<Tree> ready_;
};

}  // namespace headscope
