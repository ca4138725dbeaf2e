#include "trees/levels.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace headscope {

namespace {

// Levels further from each other than any tree's, so that sums of them stay numbers.
constexpr std::int64_t kHighestRise = 1'000'000;

// A constituent, with those of which it is the only child, on the way to a word.
struct OnPath {
    const Tree* node;
    std::string labels;  // "TITLE(NP"
};

// "(" and a label, again and again; the first one without its bracket.
bool are_labels(std::string_view labels) {
    return !labels.empty() && labels.find(')') == std::string_view::npos && labels.front() != '(' &&
           labels.back() != '(' && labels.find("((") == std::string_view::npos;
}

// In "(A(B", or "A(B".
std::int64_t count_labels(std::string_view labels) {
    const bool first = !labels.empty() && labels.front() != '(';
    return (first ? 1 : 0) + std::count(labels.begin(), labels.end(), '(');
}

// Collects the symbols of a tree from left to right.
class LevelWriter {
public:
    void add(const Tree& tree) {
        std::string labels;
        const Tree* node = &tree;
        while (node->children.size() == 1) {
            labels += "(" + node->label;
            node = &node->children.front();
        }
        if (node->is_leaf()) {
            add_word({node->label, labels});
            return;
        }
        labels += "(" + node->label;
        path_.push_back({node, labels.substr(1)});
        for (const Tree& child : node->children) {
            add(child);
            shared_ = std::min(shared_, path_.size());
        }
        path_.pop_back();
    }

    std::string finish() {
        std::string sequence;
        for (const LevelSymbol& symbol : symbols_) {
            sequence += (sequence.empty() ? "" : " ") + to_text(symbol);
        }
        return sequence;
    }

private:
    // `path_` is that of the new word; the first `shared_` of it are the last word's, too.
    void add_word(LevelSymbol symbol) {
        if (!symbols_.empty()) {
            symbols_.back().rise = static_cast<std::int64_t>(shared_) - before_;
            symbols_.back().shared = path_[shared_ - 1].labels;
            before_ = static_cast<std::int64_t>(shared_);
        }
        symbols_.push_back(std::move(symbol));
        shared_ = path_.size();
    }

    std::vector<OnPath> path_;
    std::vector<LevelSymbol> symbols_;
    std::size_t shared_ = 0;
    std::int64_t before_ = 0;  // how many the last word shares with the one before
};

// Puts constituents over a tree, the last of "(A(B" or "A(B" first.
Tree under(std::string_view labels, Tree tree) {
    while (!labels.empty()) {
        const std::size_t bracket = labels.rfind('(');
        const std::size_t begin = bracket == std::string_view::npos ? 0 : bracket + 1;
        Tree parent{std::string(labels.substr(begin))};
        parent.children.push_back(std::move(tree));
        tree = std::move(parent);
        labels = labels.substr(0, begin == 0 ? 0 : bracket);
    }
    return tree;
}

// Builds the tree of a sequence word by word.
class LevelReader {
public:
    explicit LevelReader(Repairs& repairs) : repairs_(repairs) {}

    // A word with its tag, and its symbol.
    void add(Tree word, const LevelSymbol& symbol) {
        const bool fit = fits(count_labels(symbol.alone));
        height_ = fit ? count_labels(symbol.alone) : 0;
        last_ = under(fit ? symbol.alone : "", std::move(word));
        level_ += symbol.rise;
        shared_ = symbol.shared;
    }

    // Between two words.
    void join() {
        if (shared_.empty() || level_ < 1) {
            ++repairs_.joined;
            level_ = open_.empty() ? 1 : open_.front().level;
            shared_ = open_.empty() ? kTopLabel : open_.front().labels;
        }
        while (!open_.empty() && open_.back().level > level_) {
            close_innermost();
        }
        if (!open_.empty() && open_.back().level == level_) {
            repairs_.dropped_closings += open_.back().labels == shared_ ? 0 : 1;
        } else if (fits(count_labels(shared_) + height_)) {
            deep_ += count_labels(shared_);
            open_.push_back({level_, shared_});
        } else if (open_.empty()) {
            reopen();
            return;
        }
        add_last();
    }

    Tree finish() {
        repairs_.added_closings += shared_.empty() ? 0 : 1;
        while (!open_.empty()) {
            close_innermost();
        }
        return std::move(last_);
    }

private:
    struct Open {
        std::int64_t level;
        std::string labels;
        std::vector<Tree> children = {};
        std::int64_t height = 0;  // brackets around one another in its children, without a word's
    };

    // Whether there may be so many brackets below the open ones, and a word's.
    bool fits(std::int64_t brackets) {
        const bool fit = deep_ + brackets < static_cast<std::int64_t>(kDeepestTree);
        repairs_.dropped_symbols += fit ? 0 : 1;
        return fit;
    }

    void add_last() {
        open_.back().children.push_back(std::move(last_));
        open_.back().height = std::max(open_.back().height, height_);
    }

    // What ends with the last word goes on.
    void reopen() {
        ++deep_;
        open_.push_back({level_, std::move(last_.label), std::move(last_.children), height_ - 1});
    }

    void close_innermost() {
        add_last();
        Open& open = open_.back();
        const std::size_t bracket = open.labels.rfind('(');
        const bool one = bracket == std::string::npos;
        last_ = under(one ? "" : std::string_view(open.labels).substr(0, bracket),
                      Tree{open.labels.substr(one ? 0 : bracket + 1), "", std::move(open.children)});
        height_ = open.height + count_labels(open.labels);
        deep_ -= count_labels(open.labels);
        open_.pop_back();
    }

    Repairs& repairs_;
    std::vector<Open> open_;   // from the outermost one, at rising levels
    std::int64_t deep_ = 0;    // their brackets
    Tree last_;                // the last word, or the constituent that ends with it
    std::int64_t height_ = 0;  // its brackets around one another, without a word's
    std::int64_t level_ = 0;   // of what the last word shares with the next one
    std::string shared_;
};

}  // namespace

std::string to_text(const LevelSymbol& symbol) {
    return symbol.tag + symbol.alone + ")" +
           (symbol.shared.empty() ? "" : fmt::format("{}({}", symbol.rise, symbol.shared));
}

std::optional<LevelSymbol> level_symbol(std::string_view text) {
    const std::size_t end = text.find(')');
    const std::string_view word = text.substr(0, end);
    if (end == std::string_view::npos || !are_labels(word)) {
        return std::nullopt;
    }
    const std::size_t tag = std::min(word.find('('), word.size());
    LevelSymbol symbol{std::string(word.substr(0, tag)), std::string(word.substr(tag))};
    const std::string_view rest = text.substr(end + 1);
    if (rest.empty()) {
        return symbol;
    }
    const auto [number_end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), symbol.rise);
    const std::string_view shared = rest.substr(static_cast<std::size_t>(number_end - rest.data()));
    if (error != std::errc() || symbol.rise > kHighestRise || symbol.rise < -kHighestRise || shared.size() < 2 ||
        shared.front() != '(' || !are_labels(shared.substr(1))) {
        return std::nullopt;
    }
    symbol.shared = shared.substr(1);
    return symbol;
}

std::string level_sequence(const Tree& tree) {
    LevelWriter writer;
    writer.add(tree);
    return writer.finish();
}

Restored restored_levels(std::string_view sequence, const std::vector<std::string>& words,
                         const std::vector<std::string>* tags) {
    std::vector<LevelSymbol> symbols;
    Repairs repairs;
    for (const std::string& text : split_at_blanks(sequence)) {
        if (std::optional<LevelSymbol> symbol = level_symbol(text)) {
            symbols.push_back(*std::move(symbol));
        } else {
            ++repairs.dropped_symbols;
        }
    }
    const std::size_t named = std::min(symbols.size(), words.size());
    repairs.dropped_terminals += static_cast<std::int64_t>(symbols.size() - named);
    repairs.added_words += static_cast<std::int64_t>(words.size() - named);
    LevelReader reader(repairs);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const LevelSymbol symbol = i < named ? symbols[i] : LevelSymbol{usual_tag(words[i])};
        if (i > 0) {
            reader.join();
        }
        reader.add({tags != nullptr ? tags->at(i) : symbol.tag, words[i]}, symbol);
    }
    Tree tree = reader.finish();
    return {std::move(tree), repairs};
}

}  // namespace headscope
