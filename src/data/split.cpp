#include "data/split.h"

#include <unordered_map>

#include <fmt/format.h>

#include "support/check.h"
#include "support/random.h"
#include "text/case.h"

namespace headscope {
namespace {

bool is_space_or_punctuation(unsigned char c) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return c < 0x80 && !digit && !letter;
}

// Bytes of the separator outside ASCII that begins at `text`: U+00A0, or U+2000..U+206F; else 0.
std::size_t wide_separator(std::string_view text) {
    if (text.substr(0, 2) == "\u00a0") {
        return 2;
    }
    const bool general_punctuation =
        text.size() >= 3 && text[0] == '\xe2' &&
        (text[1] == '\x80' || (text[1] == '\x81' && static_cast<unsigned char>(text[2]) < 0xb0));
    return general_punctuation ? 3 : 0;
}

}  // namespace

std::vector<SentencePair> parse_tsv(const std::vector<std::string>& lines, const std::string& origin) {
    std::vector<SentencePair> pairs;
    pairs.reserve(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string_view line = lines[i];
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        if (line.empty()) {
            continue;
        }
        const std::size_t tab = line.find('\t');
        if (tab == std::string_view::npos) {
            throw Error(fmt::format("{}:{}: expected \"source TAB target\", found no tab", origin, i + 1));
        }
        const std::string_view target = line.substr(tab + 1, line.find('\t', tab + 1) - (tab + 1));
        if (tab > 0 && !target.empty()) {
            pairs.push_back({std::string(line.substr(0, tab)), std::string(target)});
        }
    }
    return pairs;
}

std::string normalised_source(std::string_view text) {
    std::string result;
    bool gap = false;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t wide = wide_separator(text.substr(i));
        if (wide > 0 || is_space_or_punctuation(static_cast<unsigned char>(text[i]))) {
            gap = true;
            i += wide > 0 ? wide : 1;
            continue;
        }
        if (gap && !result.empty()) {
            result += ' ';
        }
        gap = false;
        result += text[i++];
    }
    return fold_case(result);
}

Split split_pairs(const std::vector<SentencePair>& pairs, std::int64_t valid, std::int64_t test, std::uint64_t seed) {
    std::unordered_map<std::string, std::size_t> group_of;
    std::vector<std::vector<std::size_t>> groups;  // pair indices, in the order of the file
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto [found, added] = group_of.try_emplace(normalised_source(pairs[i].source), groups.size());
        if (added) {
            groups.emplace_back();
        }
        groups[found->second].push_back(i);
    }
    const auto held_out = static_cast<std::size_t>(valid + test);
    if (groups.size() <= held_out) {
        throw Error(fmt::format("cannot hold out {} + {} sentences: the text has {} different source sentences", valid,
                                test, groups.size()));
    }
    std::vector<std::size_t> order(groups.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    Random(seed).shuffle(order);
    Split split;
    std::vector<bool> kept(pairs.size(), true);
    for (std::size_t i = 0; i < held_out; ++i) {
        const std::vector<std::size_t>& group = groups[order[i]];
        (i < static_cast<std::size_t>(test) ? split.test : split.valid).push_back(pairs[group.front()]);
        for (const std::size_t pair : group) {
            kept[pair] = false;
        }
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (kept[i]) {
            split.train.push_back(pairs[i]);
        }
    }
    return split;
}

}  // namespace headscope
