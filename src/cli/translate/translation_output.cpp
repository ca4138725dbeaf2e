#include "cli/translate/translation_output.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/text_json.h"

namespace headscope {

namespace {

// The translation with its other columns.
std::string text_line(const OutputFormat& format, std::int64_t number, const Translation& translation,
                      const Alignment* alignment) {
    const std::string aligned = alignment == nullptr ? "" : " ||| " + to_pharaoh(*alignment);
    if (format.n_best) {
        return fmt::format("{} ||| {}{} ||| LogP= {:.4f} ||| {:.4f}\n", number - 1, translation.text, aligned,
                           translation.log_probability, translation.score);
    }
    const std::string score = format.scores ? fmt::format("{:.4f}\t", translation.score) : "";
    return score + translation.text + aligned + "\n";
}

}  // namespace

std::string format_line(const OutputFormat& format, const Tokenizer& target, const StreamedLine& line,
                        const std::vector<Alignment>& alignments) {
    if (format.json) {
        return json_row(translation_json(target, line, format.n_best, alignments));
    }
    const std::vector<Translation>& list = line.sentence.n_best;
    if (!line.sentence.problem.empty()) {
        return format.n_best ? "" : "\n";
    }
    std::string text;
    for (std::size_t i = 0; i < (format.n_best ? list.size() : 1); ++i) {
        text += text_line(format, line.number, list[i], i < alignments.size() ? &alignments[i] : nullptr);
    }
    return text;
}

}  // namespace headscope
