#include "text/byte_bpe.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include <fmt/format.h>

#include "support/check.h"
#include "text/byte_pieces.h"
#include "text/gpt2_words.h"

namespace headscope {

namespace {

constexpr std::int32_t kUnknown = -1;

std::uint64_t key(std::int32_t left, std::int32_t right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) | static_cast<std::uint32_t>(right);
}

std::string characters_of(std::string_view bytes) {
    std::string characters;
    for (const char byte : bytes) {
        characters += character_of_byte(static_cast<unsigned char>(byte));
    }
    return characters;
}

}  // namespace

// A piece of a word, in a linked list.
struct ByteBpe::Symbol {
    std::int32_t id;
    std::size_t begin, end;  // bytes of the word
    std::ptrdiff_t previous, next;
    bool merged = false;  // into its predecessor
};

ByteBpe::ByteBpe(std::shared_ptr<const Vocabulary> vocabulary,
                 const std::vector<std::pair<std::string, std::string>>& merges, ByteBpeOptions options)
    : vocabulary_(std::move(vocabulary)), options_(options) {
    const auto id_of = [&](const std::string& piece, std::size_t rank) {
        const std::optional<std::int32_t> id = vocabulary_->find(piece);
        if (!id) {
            throw Error(fmt::format("{}: the merge {}, '{} {}', needs the piece '{}', which is not in the vocabulary",
                                    vocabulary_->name(), rank + 1, merges[rank].first, merges[rank].second, piece));
        }
        return *id;
    };
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
        const auto& [left, right] = merges[rank];
        merges_.insert_or_assign(key(id_of(left, rank), id_of(right, rank)),
                                 Merge{static_cast<std::int32_t>(rank), id_of(left + right, rank)});
    }
}

const ByteBpe::Merge* ByteBpe::merge_of(std::int32_t left, std::int32_t right) const {
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

std::vector<ByteBpe::Symbol> ByteBpe::symbols_of(std::string_view word) const {
    std::vector<Symbol> symbols;
    for (std::size_t at = 0; at < word.size(); ++at) {
        const std::int32_t id =
            vocabulary_->find(character_of_byte(static_cast<unsigned char>(word[at]))).value_or(kUnknown);
        if (id == kUnknown && !options_.has_unknown) {
            continue;
        }
        if (id == kUnknown && options_.fuse_unknown && !symbols.empty() && symbols.back().id == kUnknown) {
            symbols.back().end = at + 1;
            continue;
        }
        const auto count = static_cast<std::ptrdiff_t>(symbols.size());
        symbols.push_back({id, at, at + 1, count - 1, count + 1});
    }
    return symbols;
}

// In each step merges the pair that was learned first, the leftmost of equals.
void ByteBpe::merge(std::vector<Symbol>& symbols) const {
    using Step = std::tuple<std::int32_t, std::ptrdiff_t, std::int32_t>;  // rank, place of the left symbol, new id
    std::priority_queue<Step, std::vector<Step>, std::greater<>> steps;
    const auto count = static_cast<std::ptrdiff_t>(symbols.size());
    const auto at = [&](std::ptrdiff_t place) -> Symbol& { return symbols[static_cast<std::size_t>(place)]; };
    const auto propose = [&](std::ptrdiff_t left) {
        const Merge* merge = left >= 0 && at(left).next < count ? merge_of(at(left).id, at(at(left).next).id) : nullptr;
        if (merge != nullptr) {
            steps.emplace(merge->rank, left, merge->id);
        }
    };
    for (std::ptrdiff_t place = 0; place < count; ++place) {
        propose(place);
    }
    while (!steps.empty()) {
        const auto [rank, place, id] = steps.top();
        steps.pop();
        Symbol& left = at(place);
        const Merge* merge = left.merged || left.next >= count ? nullptr : merge_of(left.id, at(left.next).id);
        if (merge == nullptr || merge->id != id) {
            continue;  // another merge took a part of this pair
        }
        Symbol& right = at(left.next);
        right.merged = true;
        left.id = id;
        left.end = right.end;
        left.next = right.next;
        if (left.next < count) {
            at(left.next).previous = place;
        }
        propose(left.previous);
        propose(place);
    }
}

void ByteBpe::split_word(std::string_view word, std::vector<Segment>& segments) const {
    if (options_.ignore_merges) {
        std::string whole = characters_of(word);
        if (vocabulary_->find(whole)) {
            segments.push_back({std::move(whole), {0, word.size()}});
            return;
        }
    }
    std::vector<Symbol> symbols = symbols_of(word);
    merge(symbols);
    for (const Symbol& symbol : symbols) {
        if (!symbol.merged) {
            segments.push_back(
                {characters_of(word.substr(symbol.begin, symbol.end - symbol.begin)), {symbol.begin, symbol.end}});
        }
    }
}

std::vector<Segment> ByteBpe::split(std::string_view text) const {
    std::string prefixed;
    const std::size_t prefix = options_.add_prefix_space && !text.starts_with(' ') ? 1 : 0;
    if (prefix > 0) {
        prefixed = " ";
        prefixed += text;
    }
    const std::string_view whole = prefix > 0 ? std::string_view(prefixed) : text;
    // The beginning of the character at this byte; bytes of a character belong to the piece with its last byte.
    const auto place = [&](std::size_t byte) {
        while (byte > 0 && byte < whole.size() && (static_cast<unsigned char>(whole[byte]) & 0xc0U) == 0x80U) {
            --byte;
        }
        return byte - std::min(byte, prefix);
    };
    std::vector<Segment> segments;
    std::size_t begin = 0;
    for (const std::string_view word : options_.use_regex ? gpt2_words(whole) : std::vector<std::string_view>{whole}) {
        const std::size_t first = segments.size();
        split_word(word, segments);
        for (std::size_t i = first; i < segments.size(); ++i) {
            segments[i].span = {place(segments[i].span.begin + begin), place(segments[i].span.end + begin)};
        }
        begin += word.size();
    }
    return segments;
}

JoinedText ByteBpe::join(const std::vector<std::string_view>& pieces) const {
    std::string bytes;
    std::vector<std::size_t> ends;
    for (const std::string_view piece : pieces) {
        bytes += bytes_of_characters(piece).value_or(std::string(piece));
        ends.push_back(bytes.size());
    }
    return text_of_bytes(bytes, ends);
}

std::string ByteBpe::readable(std::string_view piece) const {
    return readable_bytes(piece);
}

}  // namespace headscope
