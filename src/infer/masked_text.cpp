#include "infer/masked_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

void check_length(const ModelConfig& config, std::size_t tokens) {
    if (static_cast<std::int64_t>(tokens) > config.max_length) {
        throw Error(fmt::format("the text has {} tokens including its ends, but the model takes at most {}: shorten it",
                                tokens, config.max_length));
    }
}

// Where a mark, or the model's own mask, stands in the given text and in the same text with own masks alone.
struct Mark {
    ByteSpan given, own;
};

std::vector<Mark> find_marks(std::string_view text, std::string_view mark, std::string_view own) {
    std::vector<Mark> marks;
    std::size_t shorter = 0, longer = 0;  // the bytes that own masks have less and more
    for (std::size_t at = 0; at < text.size();) {
        std::size_t size = text.substr(at).starts_with(mark) ? mark.size() : 0;
        size = text.substr(at).starts_with(own) ? std::max(size, own.size()) : size;
        if (size == 0) {
            ++at;
            continue;
        }
        const std::size_t begin = at - shorter + longer;
        marks.push_back({{at, at + size}, {begin, begin + own.size()}});
        shorter += size;
        longer += own.size();
        at += size;
    }
    return marks;
}

std::string with_own_masks(std::string_view text, const std::vector<Mark>& marks, std::string_view own) {
    std::string replaced;
    std::size_t done = 0;
    for (const Mark& mark : marks) {
        replaced += text.substr(done, mark.given.begin - done);
        replaced += own;
        done = mark.given.end;
    }
    return replaced.append(text.substr(done));
}

// The bytes of the given text for those of a mask in the text with own masks.
ByteSpan given_span(const ByteSpan& span, const std::vector<Mark>& marks) {
    const auto next = std::ranges::lower_bound(marks, span.begin, {}, [](const Mark& mark) { return mark.own.begin; });
    if (next != marks.end() && next->own.end <= span.end) {
        return next->given;
    }
    const auto [given, own] = next == marks.begin() ? Mark{} : *(next - 1);
    const auto shifted = [&](std::size_t at) { return given.end + (at < own.end ? 0 : at - own.end); };
    return {shifted(span.begin), shifted(span.end)};
}

MaskedText split_whole(const Tokenizer& tokenizer, std::string_view text, std::string_view mark, std::int32_t mask) {
    const std::string own = tokenizer.piece(mask);
    const std::vector<Mark> marks = find_marks(text, mark, own);
    MaskedText masked;
    for (const Segment& segment : tokenizer.split(with_own_masks(text, marks, own))) {
        masked.ids.push_back(tokenizer.id_of(segment));
        if (masked.ids.back() == mask) {
            masked.masks.push_back(given_span(segment.span, marks));
        }
    }
    for (const Mark& one : marks) {
        const std::string_view written = text.substr(one.given.begin, one.given.end - one.given.begin);
        if (written != own && !std::ranges::binary_search(masked.masks, one.given.begin, {}, &ByteSpan::begin)) {
            throw Error(
                fmt::format("the model's tokenizer takes no {} here for its mask, {}: put blanks around it, or write "
                            "{}",
                            written, own, own));
        }
    }
    return masked;
}

MaskedText split_between(const Tokenizer& tokenizer, std::string_view text, std::string_view mark, std::int32_t mask) {
    MaskedText masked;
    std::size_t done = 0;
    const auto append = [&](std::size_t end) {
        const std::string_view part = text.substr(done, end - done);
        const std::vector<std::int32_t> more =
            done == 0 ? tokenizer.encode(part) : encode_continuation(tokenizer, part);
        masked.ids.insert(masked.ids.end(), more.begin(), more.end());
    };
    for (const Mark& one : find_marks(text, mark, tokenizer.piece(mask))) {
        append(one.given.begin);
        masked.ids.push_back(mask);
        masked.masks.push_back(one.given);
        done = one.given.end;
    }
    append(text.size());
    return masked;
}

bool finds_mask(const Tokenizer& tokenizer, std::int32_t mask) {
    const std::vector<Segment> alone = tokenizer.split(tokenizer.piece(mask));
    return alone.size() == 1 && tokenizer.id_of(alone.front()) == mask;
}

}  // namespace

// Tokenizers begin every text as if a blank preceded it, so it is encoded behind a letter that stays a piece of its
// own, if there is one.
std::vector<std::int32_t> encode_continuation(const Tokenizer& tokenizer, std::string_view text) {
    if (text.empty() || text.front() == ' ') {
        return tokenizer.encode(text);
    }
    for (const char letter : {'q', 'z', 'x', 'Q', 'Z', 'X', '7'}) {
        const std::vector<std::int32_t> alone = tokenizer.encode(std::string(1, letter));
        std::vector<std::int32_t> ids = tokenizer.encode(letter + std::string(text));
        if (ids.size() > alone.size() && std::equal(alone.begin(), alone.end(), ids.begin())) {
            ids.erase(ids.begin(), ids.begin() + std::ssize(alone));
            return ids;
        }
    }
    return tokenizer.encode(text);
}

void append_filling(std::string& text, std::string_view word) {
    constexpr std::string_view kBlanks = " \t\r\n";
    if (word.starts_with(' ')) {
        word.remove_prefix(1);
        text += text.empty() || kBlanks.find(text.back()) != std::string_view::npos ? "" : " ";
    } else {
        text.erase(text.find_last_not_of(kBlanks) + 1);
    }
    text += word;
}

MaskedText encode_masked(const ModelDirectory& model, std::string_view text, std::string_view mark) {
    const Tokenizer& tokenizer = *model.target_tokenizer;
    const std::int32_t mask = model.config.frame.mask_id;
    MaskedText masked = finds_mask(tokenizer, mask) ? split_whole(tokenizer, text, mark, mask)
                                                    : split_between(tokenizer, text, mark, mask);
    masked.ids.insert(masked.ids.begin(), model.config.frame.bos_id);
    masked.ids.push_back(model.config.frame.eos_id);
    check_length(model.config, masked.ids.size());
    return masked;
}

}  // namespace headscope
