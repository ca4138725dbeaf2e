#include "observe/words.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "support/utf8.h"
#include "text/normal_form.h"
#include "text/segmenter.h"

namespace headscope {

namespace {

bool begins_word(const RecordedToken& token) {
    return token.begins_word || token.text.starts_with(kWordStart);
}

std::string without_mark(const std::string& piece, std::string_view mark = kWordStart) {
    return piece.starts_with(mark) ? piece.substr(mark.size()) : piece;
}

bool is_punctuation_character(char32_t c) {
    const bool ascii = c < 0x80 && c > 0x20 && !(c >= '0' && c <= '9') && !((c | 0x20U) >= 'a' && (c | 0x20U) <= 'z');
    // kLineBreak, guillemets, inverted marks, and the block of dashes, quotes and the ellipsis.
    return ascii || c == 0x21B5 || c == 0xAB || c == 0xBB || c == 0xA1 || c == 0xBF || (c >= 0x2010 && c <= 0x205E);
}

struct Span {
    std::size_t first = 0;
    std::size_t count = 0;
};

// A lone word-start marker (▁, followed by its word) belongs to the next piece.
bool is_bare_mark(const RecordedToken& token) {
    return token.text == kWordStart;
}

// Splits one word's pieces into spans: leading punctuation, the word, trailing punctuation.
void add_word(const std::vector<RecordedToken>& tokens, Span word, std::vector<Span>& spans) {
    const auto punctuation = [&](std::size_t index) { return is_punctuation(without_mark(tokens[index].text)); };
    std::size_t first = word.first;
    std::size_t last = word.first + word.count;
    std::size_t lead = first;
    if (word.count > 1 && is_bare_mark(tokens[first])) {
        ++lead;  // stays with the next piece
    }
    while (lead + 1 < last && punctuation(lead)) {
        spans.push_back({first, lead + 1 - first});
        first = ++lead;
    }
    std::vector<Span> trailing;
    while (last > lead + 1 && punctuation(last - 1)) {
        trailing.push_back({--last, 1});
    }
    spans.push_back({first, last - first});
    spans.insert(spans.end(), trailing.rbegin(), trailing.rend());
}

std::vector<Span> word_spans(const std::vector<RecordedToken>& tokens) {
    std::vector<Span> spans;
    const auto in_word = [&](std::size_t i) {
        return tokens[i].kind == TokenKind::Piece || tokens[i].kind == TokenKind::Unknown;
    };
    for (std::size_t i = 0; i < tokens.size();) {
        std::size_t end = i + 1;
        if (!in_word(i)) {
            spans.push_back({i, 1});
        } else {
            while (end < tokens.size() && in_word(end) && !begins_word(tokens[end])) {
                ++end;
            }
            add_word(tokens, {i, end - i}, spans);
        }
        i = end;
    }
    return spans;
}

std::string joined(const std::vector<RecordedToken>& tokens, Span span) {
    std::string text;
    const std::string_view mark = tokens[span.first].begins_word ? kContinues : kWordStart;
    for (std::size_t i = span.first; i < span.first + span.count; ++i) {
        text += without_mark(tokens[i].text, i == span.first ? kWordStart : mark);
    }
    return text.empty() ? tokens[span.first].text : text;
}

std::optional<double> probability_of(const std::vector<RecordedToken>& tokens, Span span) {
    std::optional<double> product = 1.0;
    for (std::size_t i = span.first; i < span.first + span.count; ++i) {
        const std::optional<double> one = tokens[i].probability;
        product = product && one ? std::optional(*product * *one) : std::nullopt;
    }
    return product;
}

bool shown(TokenKind kind, const RowOptions& options) {
    switch (kind) {
        case TokenKind::Pad: return options.show_pads;
        case TokenKind::Begin:
        case TokenKind::End: return options.show_special;
        default: return true;
    }
}

}  // namespace

bool is_punctuation(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
        if (!is_punctuation_character(next_character(text, at))) {
            return false;
        }
    }
    return !text.empty();
}

std::vector<RowItem> make_row(const std::vector<RecordedToken>& tokens, const RowOptions& options) {
    std::vector<RowItem> row;
    std::map<std::string, int> seen;
    bool second = false;
    for (const Span& span : word_spans(tokens)) {
        const TokenKind kind = tokens[span.first].kind;
        const bool in_second = second && kind != TokenKind::End && kind != TokenKind::Pad;
        second = second || kind == TokenKind::End;
        if (!shown(kind, options)) {
            continue;
        }
        const std::string word = joined(tokens, span);
        const auto first = static_cast<std::int64_t>(span.first);
        const auto count = static_cast<std::int64_t>(span.count);
        const RowItem whole{word, word, ++seen[nfkc(word)], first, count, in_second, probability_of(tokens, span)};
        if (options.join_words) {
            row.push_back(whole);
            continue;
        }
        for (std::int64_t i = first; i < first + count; ++i) {
            const RecordedToken& token = tokens[static_cast<std::size_t>(i)];
            row.push_back({token.text, word, whole.occurrence, i, 1, in_second, token.probability});
        }
    }
    if (!options.show_first && row.size() > 1 && row.front().first == 0) {
        row.erase(row.begin());
    }
    return row;
}

std::vector<float> join_weights(const SiteWeights& weights, const std::vector<RowItem>& queries,
                                const std::vector<RowItem>& keys) {
    std::vector<float> result;
    result.reserve(static_cast<std::size_t>(weights.heads) * queries.size() * keys.size());
    for (std::int64_t head = 0; head < weights.heads; ++head) {
        for (const RowItem& query : queries) {
            const float* row = weights.values.data() + (head * weights.queries + query.first) * weights.keys;
            for (const RowItem& key : keys) {
                if (query.count == 1 && key.count == 1) {
                    result.push_back(row[key.first]);
                    continue;
                }
                double sum = 0.0;
                for (std::int64_t q = 0; q < query.count; ++q) {
                    for (std::int64_t k = key.first; k < key.first + key.count; ++k) {
                        sum += static_cast<double>(row[q * weights.keys + k]);
                    }
                }
                result.push_back(static_cast<float>(sum / static_cast<double>(query.count)));
            }
        }
    }
    return result;
}

void renormalise(std::vector<float>& joined, const SiteWeights& weights, const std::vector<RowItem>& queries,
                 const std::vector<RowItem>& keys) {
    constexpr double kLeast = 0.5;        // do not amplify rounding in rows that add up to about 0 (differences)
    constexpr double kLeastShare = 0.01;  // do not make a sliver of a row look like all of it
    auto row = joined.begin();
    for (std::int64_t head = 0; head < weights.heads; ++head) {
        for (const RowItem& query : queries) {
            double all = 0.0;
            for (std::int64_t q = query.first; q < query.first + query.count; ++q) {
                for (std::int64_t key = 0; key < weights.keys; ++key) {
                    all += static_cast<double>(weights.at(head, q, key)) / static_cast<double>(query.count);
                }
            }
            const auto end = row + static_cast<std::ptrdiff_t>(keys.size());
            const double shown = std::accumulate(row, end, 0.0);
            if (all >= kLeast && shown >= kLeastShare * all) {
                std::transform(row, end, row, [scale = all / shown](float weight) {
                    return static_cast<float>(static_cast<double>(weight) * scale);
                });
            }
            row = end;
        }
    }
}

std::string named_word(std::string_view text) {
    std::string word;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char next = at + 1 < text.size() ? text[at + 1] : '\0';
        at += text[at] == '\\' && (next == ',' || next == '\\') ? 1 : 0;
        word += text[at];
    }
    return word;
}

std::vector<std::string> named_words(std::string_view text) {
    std::vector<std::string> words;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == ',') {
            words.push_back(named_word(text.substr(begin, at - begin)));
            begin = at + 1;
        }
        at += text[at] == '\\' ? 1 : 0;
    }
    words.push_back(named_word(text.substr(begin)));
    return words;
}

std::vector<std::size_t> find_word(const std::vector<RowItem>& row, const std::string& wanted) {
    const auto matches = [&](const std::string& name, int occurrence) {
        std::vector<std::size_t> found;
        const std::string word = nfkc(name);
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (nfkc(row[i].word) == word && (occurrence == 0 || row[i].occurrence == occurrence)) {
                found.push_back(i);
            }
        }
        return found;
    };
    std::vector<std::size_t> found = matches(wanted, 0);
    const std::size_t colon = wanted.rfind(':');
    if (found.empty() && colon != std::string::npos && colon > 0) {
        int occurrence = 0;
        const char* end = wanted.data() + wanted.size();
        const auto parsed = std::from_chars(wanted.data() + colon + 1, end, occurrence);
        if (parsed.ec == std::errc() && parsed.ptr == end && occurrence > 0) {
            found = matches(wanted.substr(0, colon), occurrence);
        }
    }
    if (found.empty()) {
        std::vector<std::string> words;
        for (const RowItem& item : row) {
            if (words.empty() || item.word != words.back()) {
                words.push_back(item.word);
            }
        }
        throw Error(fmt::format("the word '{}' is not among: {} (word:2 means its second occurrence)", wanted,
                                fmt::join(words, " ")));
    }
    return found;
}

}  // namespace headscope
