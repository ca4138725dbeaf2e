#include "app/line_alignments.h"

#include <cstddef>
#include <utility>

namespace headscope {

namespace {

// What is aligned at a time, and the list's entry that it is part of.
struct Piecewise {
    std::size_t line = 0;
    std::size_t rank = 0;
};

std::vector<std::int32_t> without_end(std::vector<std::int32_t> ids, std::int32_t eos) {
    if (!ids.empty() && ids.back() == eos) {
        ids.pop_back();
    }
    return ids;
}

}  // namespace

std::vector<std::vector<Alignment>> align_lines(Context& ctx, const Translator& translator,
                                                const std::vector<StreamedLine>& lines, const AlignmentOptions& options,
                                                std::int64_t budget) {
    const ModelDirectory& model = translator.model();
    std::vector<Pair> pairs;
    std::vector<Piecewise> owners;
    std::vector<std::vector<Alignment>> alignments;
    for (const StreamedLine& line : lines) {
        const TranslatedSentence& sentence = line.sentence;
        const std::vector<TranslatedSentence> whole{sentence};
        alignments.emplace_back(sentence.n_best.size());
        for (std::size_t rank = 0; rank < sentence.n_best.size(); ++rank) {
            for (const TranslatedSentence& part : sentence.parts.empty() ? whole : sentence.parts) {
                pairs.push_back({without_end(part.source_ids, model.config.eos_id),
                                 without_end(part.n_best[rank].ids, model.config.eos_id)});
                owners.push_back({alignments.size() - 1, rank});
            }
        }
    }
    const auto weights = alignment_weights(ctx, translator.transformers(), pairs, options, budget);
    // Where the next sentence of the same line begins.
    std::int64_t source_before = 0;
    std::int64_t target_before = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const Piecewise& owner = owners[i];
        const bool goes_on = i > 0 && owners[i - 1].line == owner.line && owners[i - 1].rank == owner.rank;
        source_before = goes_on ? source_before : 0;
        target_before = goes_on ? target_before : 0;
        const AlignedUnits source = aligned_units(*model.source_tokenizer, pairs[i].source, options.pieces);
        const AlignedUnits target = aligned_units(*model.target_tokenizer, pairs[i].target, options.pieces);
        for (const auto& [from, to] : link_units(weights[i], source, target)) {
            alignments[owner.line][owner.rank].emplace_back(source_before + from, target_before + to);
        }
        source_before += source.count;
        target_before += target.count;
    }
    return alignments;
}

}  // namespace headscope
