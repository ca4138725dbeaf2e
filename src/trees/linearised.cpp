#include "trees/linearised.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "support/counted.h"
#include "trees/levels.h"

namespace headscope {

namespace {

bool has_letters(std::string_view tag) {
    return std::any_of(tag.begin(), tag.end(), [](char one) {
        return (one >= 'A' && one <= 'Z') || (one >= 'a' && one <= 'z') || static_cast<unsigned char>(one) >= 0x80;
    });
}

void add_symbols(const Tree& tree, Terminals terminals, std::string& sequence) {
    sequence += sequence.empty() ? "" : " ";
    if (tree.is_leaf()) {
        const bool any = terminals == Terminals::Normalised && has_letters(tree.label);
        sequence += any ? kAnyTag : terminals == Terminals::Words ? tree.word : tree.label;
        return;
    }
    sequence += "(" + tree.label;
    for (const Tree& child : tree.children) {
        add_symbols(child, terminals, sequence);
    }
    sequence += " )" + tree.label;
}

// Whatever is read here is part of a tree that must be readable again.
bool is_symbol(const std::string& symbol) {
    return symbol != "(" && symbol != ")" && symbol.find_first_of("()", 1) == std::string::npos;
}

void require_words(const std::vector<std::string>& words) {
    if (words.empty()) {
        throw Error("a tree needs at least one word, found none");
    }
    const auto found = std::find_if(words.begin(), words.end(), [](const std::string& word) {
        return word.find_first_of("()") != std::string::npos;
    });
    if (found != words.end()) {
        throw Error(
            fmt::format("the word \"{}\" contains a bracket: write ( and ) in words as -LRB- and -RRB-", *found));
    }
}

// Builds the tree of a sequence symbol by symbol.
class Restorer {
public:
    Restorer(const std::vector<std::string>& words, const std::vector<std::string>* tags, Terminals terminals)
        : words_(words), tags_(tags), terminals_(terminals) {}

    void read(const std::string& symbol) {
        const bool opens = symbol.starts_with('(');
        // There may be TOP above the open constituents, and a word's bracket below.
        if (!is_symbol(symbol) || (opens && open_.size() + 2 == kDeepestTree)) {
            ++repairs_.dropped_symbols;
        } else if (opens) {
            open_.push_back({symbol.substr(1)});
        } else if (symbol.starts_with(')')) {
            close(symbol.substr(1));
        } else if (next_ < words_.size()) {
            innermost().push_back(leaf(symbol));
        } else {
            ++repairs_.dropped_terminals;
        }
    }

    Restored finish() {
        if (next_ < words_.size()) {
            while (open_.size() > 1) {
                close_innermost(true);
            }
            std::vector<Tree>& rest = !open_.empty() ? open_.front().children : outermost();
            for (; next_ < words_.size(); ++repairs_.added_words) {
                rest.push_back(leaf(""));
            }
        }
        while (!open_.empty()) {
            close_innermost(true);
        }
        const bool one = trees_.size() == 1;
        repairs_.joined += static_cast<std::int64_t>(trees_.size()) - 1;
        Tree tree = one ? std::move(trees_.front()) : Tree{kTopLabel, "", std::move(trees_)};
        return {std::move(tree), repairs_};
    }

private:
    std::vector<Tree>& innermost() { return open_.empty() ? trees_ : open_.back().children; }
    // Where words without a terminal go if nothing is open.
    std::vector<Tree>& outermost() {
        return trees_.size() == 1 && !trees_.front().is_leaf() ? trees_.front().children : trees_;
    }

    Tree leaf(const std::string& symbol) {
        const std::string& word = words_[next_];
        const bool is_tag = !symbol.empty() && (terminals_ == Terminals::Tags ||
                                                (terminals_ == Terminals::Normalised && symbol != kAnyTag));
        Tree made{tags_ != nullptr ? tags_->at(next_) : is_tag ? symbol : usual_tag(word), word};
        ++next_;
        return made;
    }

    void close(const std::string& label) {
        const auto found =
            std::find_if(open_.rbegin(), open_.rend(), [&](const Tree& tree) { return tree.label == label; });
        if (found == open_.rend()) {
            ++repairs_.dropped_closings;
            return;
        }
        for (auto inside = std::distance(open_.rbegin(), found); inside > 0; --inside) {
            close_innermost(true);
        }
        close_innermost(false);
    }

    void close_innermost(bool is_repair) {
        Tree tree = std::move(open_.back());
        open_.pop_back();
        repairs_.added_closings += is_repair ? 1 : 0;
        if (tree.children.empty()) {
            ++repairs_.empty;
        } else {
            innermost().push_back(std::move(tree));
        }
    }

    const std::vector<std::string>& words_;
    const std::vector<std::string>* tags_;
    Terminals terminals_;
    std::vector<Tree> open_;   // from the outermost one
    std::vector<Tree> trees_;  // closed, outside of any other
    std::size_t next_ = 0;     // word
    Repairs repairs_;
};

}  // namespace

std::string linearised(const Tree& tree, Terminals terminals) {
    if (terminals == Terminals::Levels) {
        return level_sequence(tree);
    }
    std::string sequence;
    add_symbols(tree, terminals, sequence);
    return sequence;
}

Terminals terminals_among(const std::vector<std::string>& symbols) {
    Terminals found = Terminals::Normalised;
    for (const std::string& symbol : symbols) {
        if (symbol.starts_with('(') || symbol.starts_with(')')) {
            continue;
        }
        if (std::any_of(symbol.begin(), symbol.end(), [](char one) {
                return (one >= 'a' && one <= 'z') || static_cast<unsigned char>(one) >= 0x80;
            })) {
            return Terminals::Words;
        }
        found = symbol != kAnyTag && has_letters(symbol) ? Terminals::Tags : found;
    }
    return found;
}

Repairs& Repairs::operator+=(const Repairs& other) {
    dropped_symbols += other.dropped_symbols;
    dropped_closings += other.dropped_closings;
    added_closings += other.added_closings;
    dropped_terminals += other.dropped_terminals;
    added_words += other.added_words;
    empty += other.empty;
    joined += other.joined;
    return *this;
}

Restored restored(std::string_view sequence, const std::vector<std::string>& words,
                  const std::vector<std::string>* tags, Terminals terminals) {
    require_words(words);
    if (tags != nullptr && tags->size() != words.size()) {
        throw Error(fmt::format("expected one tag for each of {}, found {}", counted(words.size(), "word"),
                                counted(tags->size(), "tag")));
    }
    if (terminals == Terminals::Levels) {
        return restored_levels(sequence, words, tags);
    }
    Restorer restorer(words, tags, terminals);
    for (const std::string& symbol : split_at_blanks(sequence)) {
        restorer.read(symbol);
    }
    return restorer.finish();
}

Restored best_restored(const std::vector<std::string>& sequences, const std::vector<std::string>& words,
                       const std::vector<std::string>* tags, Terminals terminals) {
    std::optional<Restored> first;
    for (const std::string& sequence : sequences) {
        Restored one = restored(sequence, words, tags, terminals);
        if (!one.repairs.any()) {
            return one;
        }
        if (!first) {
            first = std::move(one);
        }
    }
    if (!first) {
        throw Error("there is no sequence for these words");
    }
    return *std::move(first);
}

std::string usual_tag(std::string_view word) {
    struct Mark {
        std::string_view word;
        const char* tag;
    };
    static constexpr Mark kMarks[] = {
        {",", ","},         {".", "."},         {"?", "."},         {"!", "."},
        {":", ":"},         {";", ":"},         {"--", ":"},        {"...", ":"},
        {"``", "``"},       {"''", "''"},       {"-LRB-", "-LRB-"}, {"-RRB-", "-RRB-"},
        {"-LSB-", "-LRB-"}, {"-RSB-", "-RRB-"}, {"-LCB-", "-LRB-"}, {"-RCB-", "-RRB-"},
    };
    const auto* const found =
        std::find_if(std::begin(kMarks), std::end(kMarks), [&](const Mark& mark) { return mark.word == word; });
    return found == std::end(kMarks) ? kAnyTag : found->tag;
}

}  // namespace headscope
