#include "cli/translate/translation_output.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/text_json.h"

namespace headscope {

namespace {

// A translation with its other columns.
std::string text_line(const OutputFormat& format, const Tokenizer& target, const StreamedLine& line, std::size_t rank,
                      const Alignment* alignment) {
    const Translation& translation = line.sentence.n_best[rank];
    const bool doubted = format.unsure.rule.holds(confidence_of(line.sentence, rank));
    if (doubted && format.unsure.rule.leaves_out) {
        return format.n_best ? "" : "\n";
    }
    std::string text = (doubted ? UnsureRule::kMark : "") + translation.text;
    text += alignment == nullptr ? "" : " ||| " + to_pharaoh(*alignment);
    text += format.unsure.words ? words_column(word_probabilities(target, line.sentence, rank)) : "";
    if (format.n_best) {
        return fmt::format("{} ||| {} ||| LogP= {:.4f} ||| {:.4f}\n", line.number - 1, text,
                           translation.log_probability, translation.score);
    }
    return (format.scores ? fmt::format("{:.4f}\t", translation.score) : "") + text + "\n";
}

}  // namespace

std::string format_line(const OutputFormat& format, const Tokenizer& target, const StreamedLine& line,
                        const std::vector<Alignment>& alignments) {
    if (format.json) {
        return json_row(translation_json(target, line, format.n_best, alignments, format.unsure.rule));
    }
    const std::vector<Translation>& list = line.sentence.n_best;
    if (!line.sentence.problem.empty()) {
        return format.n_best ? "" : "\n";
    }
    std::string text;
    for (std::size_t i = 0; i < (format.n_best ? list.size() : 1); ++i) {
        text += text_line(format, target, line, i, i < alignments.size() ? &alignments[i] : nullptr);
    }
    return text;
}

}  // namespace headscope
