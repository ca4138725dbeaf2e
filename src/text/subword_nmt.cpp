#include "text/subword_nmt.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "support/check.h"
#include "support/utf8.h"
#include "text/character_bounds.h"
#include "text/spaced_pieces.h"
#include "text/vocabulary_formats.h"

namespace headscope {

namespace {

constexpr std::string_view kVersion = "#version: ";
constexpr std::string_view kWordEnd = "</w>";
constexpr std::string_view kJoiner = "@@";

std::optional<std::pair<std::string, std::string>> code_of(std::string_view line) {
    std::vector<std::string> parts;
    for (const ByteSpan word : words_of(line)) {
        parts.emplace_back(line.substr(word.begin, word.end - word.begin));
    }
    const bool counted = parts.size() == 3 && std::all_of(parts[2].begin(), parts[2].end(),
                                                          [](unsigned char c) { return std::isdigit(c) != 0; });
    return parts.size() == 2 || counted ? std::optional(std::pair(parts[0], parts[1])) : std::nullopt;
}

}  // namespace

bool is_subword_nmt(std::string_view bytes) {
    const std::string_view first = next_line(bytes);
    return !first_invalid_utf8(first) && first.find('\0') == std::string_view::npos &&
           (first.starts_with(kVersion) || code_of(first));
}

SubwordNmt::SubwordNmt(std::string_view codes, const std::string& name) : codes_(codes) {
    const bool versioned = codes.starts_with(kVersion);
    std::string_view version = versioned ? next_line(codes).substr(kVersion.size()) : "";
    separate_end_ = versioned && version == "0.1";
    if (versioned && version != "0.1" && version != "0.2") {
        throw Error(fmt::format("{}: line 1: version \"{}\" of BPE codes is not supported: only 0.1 and 0.2 are", name,
                                version));
    }
    bool counted = false;
    for (std::size_t number = versioned ? 2 : 1; !codes.empty(); ++number) {
        const std::string_view line = next_line(codes);
        std::optional<std::pair<std::string, std::string>> code =
            first_invalid_utf8(line) ? std::nullopt : code_of(line);
        if (line.empty() && codes.empty()) {
            break;
        }
        if (!code) {
            throw Error(fmt::format("{}: line {}: expected two pieces with a space between them", name, number));
        }
        counted = counted || words_of(line).size() == 3;
        ranks_.emplace(std::move(*code), ranks_.size());  // the first of equal ones counts
    }
    separate_end_ = separate_end_ || (!versioned && !counted);  // files without a version are of 0.1, or of fastBPE
}

// In each step merges all pairs that were learned first, from the left.
std::vector<std::string> SubwordNmt::pieces_of(std::string_view word) const {
    std::vector<std::string> pieces;
    const std::vector<std::size_t> bounds = character_bounds(word);
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        pieces.emplace_back(word.substr(bounds[i], bounds[i + 1] - bounds[i]));
    }
    if (pieces.size() == 1) {
        return pieces;
    }
    if (separate_end_) {
        pieces.emplace_back(kWordEnd);
    } else {
        pieces.back() += kWordEnd;
    }
    while (pieces.size() > 1) {
        auto best = ranks_.end();
        for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
            const auto found = ranks_.find({pieces[i], pieces[i + 1]});
            if (found != ranks_.end() && (best == ranks_.end() || found->second < best->second)) {
                best = found;
            }
        }
        if (best == ranks_.end()) {
            break;
        }
        std::vector<std::string> merged;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const bool pair =
                i + 1 < pieces.size() && pieces[i] == best->first.first && pieces[i + 1] == best->first.second;
            merged.push_back(pair ? pieces[i] + pieces[i + 1] : pieces[i]);
            i += pair ? 1 : 0;
        }
        pieces = std::move(merged);
    }
    if (pieces.back() == kWordEnd) {
        pieces.pop_back();
    } else if (pieces.back().ends_with(kWordEnd)) {
        pieces.back().resize(pieces.back().size() - kWordEnd.size());
    }
    return pieces;
}

std::vector<Segment> SubwordNmt::split(std::string_view text) const {
    std::vector<Segment> segments;
    for (const ByteSpan word : words_of(text)) {
        std::size_t begin = word.begin;
        for (std::string& piece : pieces_of(text.substr(word.begin, word.end - word.begin))) {
            const std::size_t end = begin + piece.size();
            segments.push_back({std::move(piece) + std::string(end < word.end ? kJoiner : ""), {begin, end}});
            begin = end;
        }
    }
    return segments;
}

namespace {

class MarkedJoiner final : public Joiner {
public:
    void add(std::string_view piece, JoinedText& joined) override {
        joined.text += continues_ ? "" : " ";
        continues_ = piece.ends_with(kJoiner);
        piece.remove_suffix(continues_ ? kJoiner.size() : 0);
        const std::size_t begin = joined.text.size();
        joined.text += piece;
        joined.spans.push_back({begin, joined.text.size()});
    }
    void finish(JoinedText&) const override {}

private:
    bool continues_ = true;  // the word of the last piece
};

}  // namespace

std::unique_ptr<Joiner> SubwordNmt::joiner() const {
    return std::make_unique<MarkedJoiner>();
}

}  // namespace headscope
