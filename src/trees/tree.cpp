#include "trees/tree.h"

#include <algorithm>

namespace headscope {

namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

void add_leaves(const Tree& tree, std::vector<const Tree*>& leaves) {
    if (tree.is_leaf()) {
        leaves.push_back(&tree);
    }
    for (const Tree& child : tree.children) {
        add_leaves(child, leaves);
    }
}

std::string joined(const Tree& tree, std::string Tree::*part) {
    std::string text;
    for (const Tree* leaf : leaves_of(tree)) {
        text += text.empty() ? "" : " ";
        text += leaf->*part;
    }
    return text;
}

void add_line(const Tree& tree, std::string& text) {
    text += '(';
    text += tree.label;
    if (tree.is_leaf()) {
        text += ' ';
        text += tree.word;
    }
    for (const Tree& child : tree.children) {
        text += ' ';
        add_line(child, text);
    }
    text += ')';
}

void add_indented(const Tree& tree, std::size_t depth, std::string& text) {
    text.append(2 * depth, ' ');
    if (std::all_of(tree.children.begin(), tree.children.end(), [](const Tree& child) { return child.is_leaf(); })) {
        add_line(tree, text);
        return;
    }
    text += '(';
    text += tree.label;
    for (const Tree& child : tree.children) {
        text += '\n';
        add_indented(child, depth + 1, text);
    }
    text += ')';
}

std::string bare_label(const std::string& label) {
    return label.substr(0, label.find_first_of("-=", 1));
}

}  // namespace

std::string to_line(const Tree& tree) {
    std::string text;
    add_line(tree, text);
    return text;
}

std::string to_indented(const Tree& tree) {
    std::string text;
    add_indented(tree, 0, text);
    return text + "\n";
}

std::vector<const Tree*> leaves_of(const Tree& tree) {
    std::vector<const Tree*> leaves;
    add_leaves(tree, leaves);
    return leaves;
}

std::string words_of(const Tree& tree) {
    return joined(tree, &Tree::word);
}

std::string tags_of(const Tree& tree) {
    return joined(tree, &Tree::label);
}

std::vector<std::string> split_at_blanks(std::string_view text) {
    std::vector<std::string> parts;
    for (std::size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
        parts.emplace_back(text.substr(begin, end - begin));
        begin = text.find_first_not_of(kBlanks, end);
    }
    return parts;
}

std::optional<Tree> without_traces(const Tree& tree) {
    if (tree.is_leaf()) {
        return tree.label == kTraceLabel ? std::nullopt : std::optional(tree);
    }
    Tree kept{bare_label(tree.label)};
    for (const Tree& child : tree.children) {
        if (std::optional<Tree> rest = without_traces(child)) {
            kept.children.push_back(*std::move(rest));
        }
    }
    return kept.children.empty() ? std::nullopt : std::optional(std::move(kept));
}

}  // namespace headscope
