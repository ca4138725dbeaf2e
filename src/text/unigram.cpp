#include "text/unigram.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/byte_pieces.h"
#include "text/character_bounds.h"

namespace headscope {

Unigram::Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, MarkedWordsOptions options)
    : vocabulary_(std::move(vocabulary)),
      scores_(std::move(scores)),
      options_(std::move(options)),
      unknown_score_(scores_.empty() ? 0.0 : *std::min_element(scores_.begin(), scores_.end()) - 10.0) {
    for (const Piece& piece : vocabulary_->pieces()) {
        longest_ = std::max(longest_, character_bounds(piece.text).size() - 1);
    }
}

const double* Unigram::score_of(std::string_view piece) const {
    const std::int32_t id = vocabulary_->id_of_text(piece);
    return id < 0 || id == vocabulary_->special().unk || static_cast<std::size_t>(id) >= scores_.size()
               ? nullptr
               : &scores_[static_cast<std::size_t>(id)];
}

void Unigram::append_unknown(const AlignedWord& word, std::size_t begin, std::size_t end,
                             std::vector<Segment>& segments) const {
    const ByteSpan span{word.spans[begin].begin, word.spans[end - 1].end};
    const std::string_view text = word.part(begin, end);
    std::vector<std::string> bytes;
    for (const char byte : text) {
        bytes.push_back(byte_piece(static_cast<unsigned char>(byte)));
    }
    const auto is_known = [&](const std::string& piece) { return vocabulary_->find(piece).has_value(); };
    if (!options_.byte_fallback || !std::all_of(bytes.begin(), bytes.end(), is_known)) {
        segments.push_back({std::string(text), span});
        return;
    }
    for (std::size_t i = begin, byte = 0; i < end; ++i) {
        const ByteSpan own = word.spans[i];
        for (const std::size_t last = word.begins[i + 1] - word.begins[begin]; byte < last; ++byte) {
            segments.push_back({std::move(bytes[byte]), {own.begin, byte + 1 < last ? own.begin : own.end}});
        }
    }
}

// The likeliest split (Viterbi), the first of equals. Adjacent unknown characters are one segment.
void Unigram::split_word(const AlignedWord& word, std::vector<Segment>& segments) const {
    struct Best {
        std::optional<std::size_t> begin = {};  // of the last piece of a split that ends here
        double score = 0.0;
        bool known = true;
    };
    std::vector<Best> best(word.size() + 1);
    const auto propose = [&](std::size_t begin, std::size_t end, double score, bool known) {
        const double sum = score + best[begin].score;
        if (!best[end].begin || sum > best[end].score) {
            best[end] = {begin, sum, known};
        }
    };
    for (std::size_t begin = 0; begin < word.size(); ++begin) {
        const std::size_t limit = std::min(word.size(), begin + longest_);
        for (std::size_t end = begin + 1; end <= limit; ++end) {
            const double* score = score_of(word.part(begin, end));
            if (score != nullptr || end == begin + 1) {
                propose(begin, end, score != nullptr ? *score : unknown_score_, score != nullptr);
            }
        }
    }
    struct Found {
        std::size_t begin, end;
        bool known;
    };
    std::vector<Found> found;
    for (std::size_t end = word.size(); end > 0; end = *best[end].begin) {
        const std::size_t begin = *best[end].begin;
        if (!best[end].known && !found.empty() && !found.back().known) {
            found.back().begin = begin;
        } else {
            found.push_back({begin, end, best[end].known});
        }
    }
    for (auto piece = found.rbegin(); piece != found.rend(); ++piece) {
        if (piece->known) {
            segments.push_back({std::string(word.part(piece->begin, piece->end)),
                                {word.spans[piece->begin].begin, word.spans[piece->end - 1].end}});
        } else {
            append_unknown(word, piece->begin, piece->end, segments);
        }
    }
}

std::vector<Segment> Unigram::split_normalised(AlignedText text, bool begins) const {
    std::vector<Segment> segments;
    for (const AlignedWord& word : marked_words(text, options_, begins)) {
        split_word(word, segments);
    }
    return segments;
}

}  // namespace headscope
