#include "infer/translation_work.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "data/batch.h"
#include "infer/decoding_choices.h"
#include "infer/framed_line.h"

namespace headscope {

std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::int64_t>& lengths, std::int64_t budget) {
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
    std::vector<std::vector<std::size_t>> batches;
    std::int64_t most_rows = 0;
    for (const std::size_t index : order) {
        if (lengths[index] == 0) {
            break;
        }
        if (batches.empty() || static_cast<std::int64_t>(batches.back().size()) >= most_rows) {
            batches.emplace_back();
            most_rows = std::max<std::int64_t>(1, budget / padded_length(lengths[index]));
        }
        batches.back().push_back(index);
    }
    return batches;
}

TranslationWork::TranslationWork(const ModelDirectory& model, const std::vector<SourceLine>& lines,
                                 const DecodingOptions& options, std::int64_t longest, Order order)
    : search_(options.search) {
    static_cast<void>(any_frame(model, options.search.languages));
    check_request(lines, options, model.config);
    if (model.config.generation == Generation::MaskPredict) {  // scores are means, also those of joined lines
        search_.length_penalty = 1.0;
        search_.length_penalty_form = LengthPenaltyForm::Power;
    }
    const std::optional<PatchGrid> pictures = patches_of(model.config);
    std::vector<std::int64_t> lengths;
    for (const SourceLine& line : lines) {
        PreparedLine prepared = prepare_line(model, line, options, longest);
        lines_.push_back(
            {.first_unit = units_.size(), .units = prepared.units.size(), .remark = std::move(prepared.remark)});
        for (LinePart& unit : prepared.units) {
            const bool translated = unit.sentence.problem.empty() && !unit.sentence.source_ids.empty();
            lines_.back().waiting += translated ? 1 : 0;
            lengths.push_back(!translated ? 0
                              : pictures  ? pictures->positions()
                                          : static_cast<std::int64_t>(unit.sentence.source_ids.size()));
            line_of_.push_back(lines_.size() - 1);
            units_.push_back(std::move(unit));
        }
    }
    batches_ = batches_by_length(lengths, options.batch_tokens);
    if (order == Order::SoonestFirst) {
        const auto soonest = [](const std::vector<std::size_t>& batch) {
            return *std::min_element(batch.begin(), batch.end());
        };
        std::sort(batches_.begin(), batches_.end(),
                  [&](const auto& a, const auto& b) { return soonest(a) < soonest(b); });
    }
}

std::vector<LinePart*> TranslationWork::units_of(std::size_t batch) {
    std::vector<LinePart*> units;
    for (const std::size_t index : batches_.at(batch)) {
        units.push_back(&units_[index]);
    }
    return units;
}

void TranslationWork::done(std::size_t batch) {
    for (const std::size_t index : batches_.at(batch)) {
        --lines_[line_of_[index]].waiting;
    }
}

std::size_t TranslationWork::finished() const {
    return static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.end(), [](const Line& line) { return line.waiting == 0; }));
}

std::vector<TextResult> TranslationWork::next() {
    std::vector<TextResult> results;
    for (; handed_out_ < lines_.size() && lines_[handed_out_].waiting == 0; ++handed_out_) {
        results.push_back(finished_line(lines_[handed_out_]));
    }
    return results;
}

TextResult TranslationWork::finished_line(Line& line) {
    std::vector<TextResult> units;
    for (std::size_t i = 0; i < line.units; ++i) {
        units.push_back(std::move(units_[line.first_unit + i].sentence));
    }
    return join_units(std::move(units), std::move(line.remark), search_);
}

}  // namespace headscope
