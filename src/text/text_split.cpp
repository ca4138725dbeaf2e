#include "text/text_split.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace headscope {

namespace {

using Field = JsonField;

struct Cut {
    ByteSpan span;
    bool matches;
};

// The matches and what is between them.
std::vector<Cut> cuts_of(const Regex& pattern, std::string_view text, bool invert) {
    const std::vector<ByteSpan> matches = pattern.matches(text);
    std::vector<Cut> cuts;
    cuts.reserve(matches.size() + 1);
    std::size_t end = 0;
    for (const ByteSpan match : matches) {
        if (end != match.begin) {
            cuts.push_back({{end, match.begin}, invert});
        }
        cuts.push_back({match, !invert});
        end = match.end;
    }
    if (end != text.size()) {
        cuts.push_back({{end, text.size()}, invert});
    }
    return cuts;
}

// Each match but the first of adjacent ones is joined with the part before it; the cuts may be in reverse order.
std::vector<ByteSpan> with_matches_joined(const std::vector<Cut>& cuts) {
    std::vector<ByteSpan> parts;
    bool follows_match = false;
    for (const auto& [span, matches] : cuts) {
        if (matches && !follows_match && !parts.empty()) {
            parts.back() = {std::min(parts.back().begin, span.begin), std::max(parts.back().end, span.end)};
        } else {
            parts.push_back(span);
        }
        follows_match = matches;
    }
    return parts;
}

std::vector<ByteSpan> with_equal_joined(const std::vector<Cut>& cuts) {
    std::vector<ByteSpan> parts;
    std::optional<bool> before;
    for (const auto& [span, matches] : cuts) {
        if (before == matches) {
            parts.back().end = span.end;
        } else {
            parts.push_back(span);
        }
        before = matches;
    }
    return parts;
}

SplitBehavior parse_behavior(const Field& field) {
    constexpr std::array<std::pair<const char*, SplitBehavior>, 5> kNames{
        {{"Removed", SplitBehavior::Removed},
         {"Isolated", SplitBehavior::Isolated},
         {"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
         {"MergedWithNext", SplitBehavior::MergedWithNext},
         {"Contiguous", SplitBehavior::Contiguous}}};
    const auto given = field.get<std::string>("");
    for (const auto& [name, behavior] : kNames) {
        if (given == name) {
            return behavior;
        }
    }
    field.reject("must be Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

void append_steps(const Field& field, PreTokenizer& steps) {
    if (field.is_null()) {
        return;
    }
    const std::string type = field.type();
    field.require(!steps.last, "must not follow \"ByteLevel\" or \"Metaspace\"");
    if (type == "Sequence") {
        for (const Field& step : field["pretokenizers"].elements()) {
            append_steps(step, steps);
        }
    } else if (type == "Split") {
        steps.splits.emplace_back(parse_pattern(field["pattern"]), parse_behavior(field["behavior"]),
                                  field["invert"].get(false));
    } else if (type == "Digits") {
        steps.splits.emplace_back(Regex("\\p{N}", field.place()), field["individual_digits"].get(false)
                                                                      ? SplitBehavior::Isolated
                                                                      : SplitBehavior::Contiguous);
    } else if (type == "WhitespaceSplit") {
        steps.splits.emplace_back(Regex("\\s", field.place()), SplitBehavior::Removed);
    } else if (type == "ByteLevel" || type == "Metaspace") {
        steps.last = field;
    } else {
        field.reject(
            R"(is not supported: only "ByteLevel", "Metaspace", "Split", "Digits", "WhitespaceSplit" and "Sequence" are)");
    }
}

}  // namespace

TextSplit::TextSplit(Regex pattern, SplitBehavior behavior, bool invert)
    : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

std::vector<ByteSpan> TextSplit::parts(std::string_view text) const {
    std::vector<Cut> cuts = cuts_of(pattern_, text, invert_);
    std::vector<ByteSpan> parts;
    parts.reserve(cuts.size());
    switch (behavior_) {
        case SplitBehavior::Removed: std::erase_if(cuts, [](const Cut& cut) { return cut.matches; }); [[fallthrough]];
        case SplitBehavior::Isolated:
            std::ranges::transform(cuts, std::back_inserter(parts), [](const Cut& cut) { return cut.span; });
            break;
        case SplitBehavior::MergedWithPrevious: parts = with_matches_joined(cuts); break;
        case SplitBehavior::MergedWithNext:
            std::ranges::reverse(cuts);
            parts = with_matches_joined(cuts);
            std::ranges::reverse(parts);
            break;
        case SplitBehavior::Contiguous: parts = with_equal_joined(cuts); break;
    }
    std::erase_if(parts, [](const ByteSpan& part) { return part.begin == part.end; });
    return parts;
}

std::vector<ByteSpan> parts_of(std::string_view text, const std::vector<TextSplit>& splits) {
    if (splits.size() == 1) {
        return splits.front().parts(text);
    }
    std::vector<ByteSpan> parts;
    if (!text.empty()) {
        parts.push_back({0, text.size()});
    }
    for (const TextSplit& split : splits) {
        std::vector<ByteSpan> smaller;
        for (const ByteSpan whole : parts) {
            for (const ByteSpan part : split.parts(text.substr(whole.begin, whole.end - whole.begin))) {
                smaller.push_back({whole.begin + part.begin, whole.begin + part.end});
            }
        }
        parts = std::move(smaller);
    }
    return parts;
}

Regex parse_pattern(const Field& field) {
    const Field literal = field["String"];
    const Field& given = literal.is_null() ? field["Regex"] : literal;
    const auto text = given.get<std::string>("");
    given.require(!text.empty(), "is empty");
    return {text, given.place(), literal.is_null() ? Regex::Syntax::Expression : Regex::Syntax::Literal};
}

PreTokenizer parse_pre_tokenizer(const Field& field) {
    PreTokenizer steps;
    append_steps(field, steps);
    return steps;
}

}  // namespace headscope
