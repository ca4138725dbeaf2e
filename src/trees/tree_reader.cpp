#include "trees/tree_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "support/counted.h"

namespace headscope {

namespace {

constexpr std::string_view kSeparators = " \t\r\n\v\f()";

}  // namespace

std::vector<Tree> TreeParser::read(std::string_view line, const std::string& place) {
    std::vector<Tree> trees;
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == '(') {
            open(place);
            ++at;
        } else if (line[at] == ')') {
            close(place, trees);
            ++at;
        } else if (kSeparators.find(line[at]) != std::string_view::npos) {
            ++at;
        } else {
            const std::size_t end = std::min(line.find_first_of(kSeparators, at), line.size());
            add(std::string(line.substr(at, end - at)), end < line.size() && line[end] == '(', place);
            at = end;
        }
    }
    return trees;
}

void TreeParser::open(const std::string& place) {
    if (open_.empty()) {
        begin_ = place;
    } else if (Open& parent = open_.back(); !parent.tree.word.empty()) {
        throw Error(fmt::format("{}: expected ) after the word \"{}\", found (", place, parent.tree.word));
    } else if (!parent.labelled && open_.size() > 1) {
        throw Error(fmt::format("{}: a bracket has no label: only the outermost one may lack it", place));
    } else {
        parent.labelled = true;
    }
    if (open_.size() == kDeepestTree) {
        throw Error(
            fmt::format("{}: more than {} brackets are open: is one of them never closed?", place, kDeepestTree));
    }
    open_.emplace_back();
}

void TreeParser::close(const std::string& place, std::vector<Tree>& trees) {
    if (open_.empty()) {
        throw Error(fmt::format("{}: ) without (: the brackets are not balanced", place));
    }
    Tree tree = std::move(open_.back().tree);
    open_.pop_back();
    if (tree.children.empty() && tree.word.empty()) {
        throw Error(fmt::format("{}: the tree ({}) is empty: expected a word or other trees in it", place, tree.label));
    }
    if (!open_.empty()) {
        open_.back().tree.children.push_back(std::move(tree));
    } else if (!tree.label.empty() || empty_ == EmptyBracket::Kept) {
        trees.push_back(std::move(tree));
    } else if (tree.children.size() == 1) {
        Tree only = std::move(tree.children.front());
        trees.push_back(std::move(only));
    } else {
        tree.label = kTopLabel;
        trees.push_back(std::move(tree));
    }
}

void TreeParser::add(std::string token, bool bracket_follows, const std::string& place) {
    if (open_.empty()) {
        throw Error(fmt::format("{}: expected a tree, which begins with (, found \"{}\"", place, token));
    }
    Open& parent = open_.back();
    Tree& tree = parent.tree;
    if (!parent.labelled) {
        tree.label = std::move(token);
        parent.labelled = true;
    } else if (!tree.children.empty()) {
        throw Error(
            fmt::format("{}: expected ( or ) in ({} ...), found \"{}\": words have brackets of their own, as in "
                        "(NN cat)",
                        place, tree.label, token));
    } else if (!tree.word.empty()) {
        throw Error(fmt::format("{}: expected ) after the word \"{}\", found \"{}\"", place, tree.word, token));
    } else if (bracket_follows) {
        throw Error(fmt::format("{}: the word \"{}\" contains a bracket: write ( and ) in words as -LRB- and -RRB-",
                                place, token + "("));
    } else {
        tree.word = std::move(token);
    }
}

void TreeParser::finish() const {
    if (!open_.empty()) {
        throw Error(fmt::format("{}: {} of this tree {} never closed", begin_, counted(open_.size(), "bracket"),
                                open_.size() == 1 ? "is" : "are"));
    }
}

std::vector<Tree> parse_trees(std::string_view text, const std::string& place, EmptyBracket empty) {
    TreeParser parser(empty);
    std::vector<Tree> trees = parser.read(text, place);
    parser.finish();
    return trees;
}

void TreeReader::read(Line line) {
    if (skipping_ && !line.text.starts_with('(')) {
        ++passed_over_;
        return;
    }
    report_passed_over();
    skipping_ = false;
    pending_.push_back(std::move(line));
    try {
        std::vector<Tree> trees = parser_.read(pending_.back().text, pending_.back().place);
        std::move(trees.begin(), trees.end(), std::back_inserter(ready_));
    } catch (const Error&) {
        recover(false);
        return;
    }
    if (!parser_.within_tree()) {
        pending_.clear();
    }
}

void TreeReader::recover(bool at_end) {
    const std::vector<Line> lines = std::exchange(pending_, {});
    for (std::size_t begin = 0; begin < lines.size();) {
        const auto next = std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(begin) + 1, lines.end(),
                                       [](const Line& line) { return line.text.starts_with('('); });
        const auto end = static_cast<std::size_t>(next - lines.begin());
        parser_ = TreeParser();
        try {
            std::vector<Tree> trees;
            for (std::size_t at = begin; at < end; ++at) {
                std::vector<Tree> more = parser_.read(lines[at].text, lines[at].place);
                std::move(more.begin(), more.end(), std::back_inserter(trees));
            }
            if (end < lines.size() || at_end) {
                parser_.finish();
            }
            std::move(trees.begin(), trees.end(), std::back_inserter(ready_));
            if (parser_.within_tree()) {  // the last one goes on
                pending_.assign(lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end());
            }
        } catch (const Error& error) {
            problems_.emplace_back(error.what());
            parser_ = TreeParser();
            skipping_ = end == lines.size();
        }
        begin = end;
    }
}

void TreeReader::report_passed_over() {
    if (passed_over_ > 0) {
        problems_.back() += fmt::format("; {} after it {} passed over, up to one with ( in its first column",
                                        counted(passed_over_, "line"), passed_over_ == 1 ? "was" : "were");
    }
    passed_over_ = 0;
}

bool TreeReader::next(Tree& tree) {
    for (std::string line; ready_.empty();) {
        if (!lines_.next(line)) {
            if (pending_.empty()) {
                report_passed_over();
                return false;
            }
            recover(true);
            continue;
        }
        read({line, fmt::format("{} line {}", lines_.name(), lines_.number())});
    }
    tree = std::move(ready_.front());
    ready_.pop_front();
    return true;
}

}  // namespace headscope
