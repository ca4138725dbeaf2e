#include "answers/line_alignments.h"

#include <cstddef>
#include <numeric>
#include <span>
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

}  // namespace headscope
