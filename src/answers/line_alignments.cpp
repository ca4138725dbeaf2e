#include "answers/line_alignments.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>

#include "observe/line_words.h"

namespace headscope {

namespace {

// The pieces of a part and its translation; both empty for an empty line.
Example pieces_of(const TextResult& part, const Translation& translation, const Frame& frame) {
    const std::vector<std::int32_t>& from = part.source_ids;
    const std::vector<std::int32_t>& to = translation.ids;
    if (from.empty()) {
        return {};
    }
    const auto begin = from.begin() + std::ssize(frame.source_begin);
    const bool ended = !to.empty() && to.back() == frame.eos;
    return {.source = {begin, from.end() - std::ssize(frame.source_end)},
            .target = {to.begin() + std::ssize(frame.target_begin), to.end() - (ended ? 1 : 0)},
            .source_begin = {from.begin(), begin}};
}

std::vector<std::int64_t> numbered_from(std::int64_t first, std::size_t count) {
    std::vector<std::int64_t> units(count);
    std::iota(units.begin(), units.end(), first);
    return units;
}

// One side of a line, whose parts are linked one after the other.
class Side {
public:
    Side(const Tokenizer& tokenizer, std::string_view line, bool by_piece)
        : by_piece_(by_piece), words_(by_piece ? std::vector<ByteSpan>() : kept_words(tokenizer, line)) {}

    // The units of the next pieces, whose spans count from byte `begin` of the line.
    std::vector<std::int64_t> units(std::vector<ByteSpan> pieces, std::size_t begin) {
        if (by_piece_) {
            pieces_ += static_cast<std::int64_t>(pieces.size());
            return numbered_from(pieces_ - static_cast<std::int64_t>(pieces.size()), pieces.size());
        }
        for (ByteSpan& piece : pieces) {
            piece = {piece.begin + begin, piece.end + begin};
        }
        return words_of_pieces(words_, pieces);
    }

private:
    bool by_piece_;
    std::vector<ByteSpan> words_;
    std::int64_t pieces_ = 0;
};

// The units of each part of a line.
std::vector<std::vector<std::int64_t>> source_units(const Tokenizer& tokenizer, const StreamedLine& line,
                                                    bool by_piece) {
    Side side(tokenizer, *line.source, by_piece);
    std::vector<std::vector<std::int64_t>> units;
    for (const TextResult& part : sentences_of(line.sentence)) {
        const std::string_view text =
            std::string_view(*line.source).substr(part.span.begin, part.span.end - part.span.begin);
        units.push_back(side.units(tokenizer.encoded_spans(text), part.span.begin));
    }
    return units;
}

// The bytes of a text without the blanks at both ends.
ByteSpan without_blanks(std::string_view text, ByteSpan span) {
    while (span.begin < span.end && text[span.begin] == ' ') {
        ++span.begin;
    }
    while (span.end > span.begin && text[span.end - 1] == ' ') {
        --span.end;
    }
    return span;
}

bool has_unknown(const Tokenizer& tokenizer, const Translation& translation) {
    return std::ranges::find(translation.ids, tokenizer.unk_id()) != translation.ids.end();
}

// The text of a part's translation with source words in place of unknown pieces. words[i]: of the line, for each word.
std::string replaced_text(const Tokenizer& tokenizer, const Translation& translation,
                          const std::vector<std::int32_t>& ids, const Alignment& links, const std::string& line,
                          const std::vector<ByteSpan>& words) {
    std::string text = translation.text;
    const std::vector<ByteSpan> spans = tokenizer.decoded_spans(ids);
    for (auto link = links.rbegin(); link != links.rend(); ++link) {  // backwards, so that earlier spans stay
        const auto piece = static_cast<std::size_t>(link->second);
        if (ids[piece] == tokenizer.unk_id()) {
            const ByteSpan span = without_blanks(text, spans[piece]);
            const ByteSpan word = words[static_cast<std::size_t>(link->first)];
            text.replace(span.begin, span.end - span.begin, line, word.begin, word.end - word.begin);
        }
    }
    return text;
}

// Joins the texts of the parts again.
void join_texts(TextResult& line, std::size_t rank) {
    Translation& whole = line.n_best[rank];
    whole.text.clear();
    for (TextResult& part : line.parts) {
        Translation& translation = part.n_best[rank];
        whole.text += whole.text.empty() || translation.text.empty() ? "" : " ";
        translation.begin = whole.text.size();
        whole.text += translation.text;
    }
}

}  // namespace

std::vector<std::vector<Alignment>> align_lines(Context& ctx, const LoadedModel& translator,
                                                const std::vector<StreamedLine>& lines, const AlignmentOptions& options,
                                                std::int64_t budget) {
    const ModelDirectory& model = translator.model();
    std::vector<Example> pairs;
    for (const StreamedLine& line : lines) {
        for (std::size_t rank = 0; rank < line.sentence.n_best.size(); ++rank) {
            for (const TextResult& part : sentences_of(line.sentence)) {
                pairs.push_back(pieces_of(part, part.n_best[rank], options.frame));
            }
        }
    }
    const auto weights = alignment_weights(ctx, translator.generators(), pairs, options, budget);
    std::vector<std::vector<Alignment>> alignments;
    std::size_t next = 0;
    for (const StreamedLine& line : lines) {
        alignments.emplace_back();
        if (line.sentence.n_best.empty()) {
            continue;
        }
        const auto sources = source_units(*model.source_tokenizer, line, options.pieces);
        for (std::size_t rank = 0; rank < line.sentence.n_best.size(); ++rank) {
            Alignment& alignment = alignments.back().emplace_back();
            Side target(*model.target_tokenizer, line.sentence.n_best[rank].text, options.pieces);
            const std::span<const TextResult> parts = sentences_of(line.sentence);
            for (std::size_t part = 0; part < parts.size(); ++part, ++next) {
                const Alignment links =
                    link_units(weights[next], sources[part],
                               target.units(model.target_tokenizer->decoded_spans(pairs[next].target),
                                            parts[part].n_best[rank].begin));
                alignment.insert(alignment.end(), links.begin(), links.end());
            }
        }
    }
    return alignments;
}

std::int64_t replace_unknown(Context& ctx, const LoadedModel& translator, std::vector<StreamedLine>& lines,
                             const AlignmentOptions& options, std::int64_t budget) {
    struct Unknowns {
        StreamedLine* line;
        std::size_t part, rank;
    };
    const Tokenizer& target = *translator.model().target_tokenizer;
    std::vector<Example> pairs;
    std::vector<Unknowns> places;
    for (StreamedLine& line : lines) {
        const std::span<const TextResult> parts = sentences_of(line.sentence);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            for (std::size_t rank = 0; rank < parts[part].n_best.size(); ++rank) {
                if (has_unknown(target, parts[part].n_best[rank])) {
                    pairs.push_back(pieces_of(parts[part], parts[part].n_best[rank], options.frame));
                    places.push_back({&line, part, rank});
                }
            }
        }
    }
    const auto weights = alignment_weights(ctx, translator.generators(), pairs, options, budget);
    std::int64_t replaced = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto [line, part, rank] = places[i];
        const Tokenizer& source = *translator.model().source_tokenizer;
        const std::vector<std::int32_t>& ids = pairs[i].target;
        const Alignment links =
            link_units(weights[i], source_units(source, *line, false)[part], numbered_from(0, ids.size()));
        TextResult& sentence = line->sentence;
        Translation& translation = sentence.parts.empty() ? sentence.n_best[rank] : sentence.parts[part].n_best[rank];
        translation.text = replaced_text(target, translation, ids, links, *line->source, line_words(*line->source));
        replaced += std::ranges::count(ids, target.unk_id());
        if (!sentence.parts.empty()) {
            join_texts(sentence, rank);
        }
        if (rank == 0) {
            sentence.text = sentence.n_best.front().text;
        }
    }
    return replaced;
}

}  // namespace headscope
