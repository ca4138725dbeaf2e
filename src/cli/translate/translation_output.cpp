#include "cli/translate/translation_output.h"
#include "cli/json_output.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

Json pieces_of(const Tokenizer& tokenizer, const Translation& translation) {
    Json pieces = Json::array();
    for (const std::int32_t id : translation.ids) {
        if (id != tokenizer.eos_id()) {
            pieces.push_back(tokenizer.piece(id));
        }
    }
    return pieces;
}

// The fields of a translation, for the line itself and for each entry of an n-best list.
void put(Json& json, const Tokenizer& tokenizer, const Translation& translation, const Alignment* alignment) {
    json["translation"] = translation.text;
    json["score"] = translation.score;
    json["log_probability"] = translation.log_probability;
    json["tokens"] = pieces_of(tokenizer, translation);
    if (translation.end == EndReason::Limit) {
        json["cut"] = true;
    }
    if (alignment != nullptr) {
        json["alignment"] = *alignment;
    }
}

std::string json_line(const OutputFormat& format, const Tokenizer& tokenizer, const StreamedLine& line,
                      const std::vector<Alignment>& alignments) {
    const TextResult& sentence = line.sentence;
    Json json = {{"line", line.number}, {"source", line.source ? Json(*line.source) : Json()}};
    const auto alignment = [&](std::size_t i) { return i < alignments.size() ? &alignments[i] : nullptr; };
    if (!sentence.problem.empty()) {
        json["translation"] = nullptr;
        json["problem"] = sentence.problem;
    } else {
        put(json, tokenizer, sentence.n_best.front(), alignment(0));
    }
    if (!sentence.parts.empty()) {
        json["sentences"] = sentence.parts.size();
    }
    if (!sentence.remark.empty()) {
        json["remark"] = sentence.remark;
    }
    if (format.n_best && sentence.problem.empty()) {
        json["n_best"] = Json::array();
        for (std::size_t i = 0; i < sentence.n_best.size(); ++i) {
            Json& one = json["n_best"].emplace_back(Json::object());
            put(one, tokenizer, sentence.n_best[i], alignment(i));
        }
    }
    return json_row(json);
}

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
        return json_line(format, target, line, alignments);
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
