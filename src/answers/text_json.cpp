#include "answers/text_json.h"

#include <cstddef>

#include <nlohmann/json.hpp>

#include "answers/end_name.h"

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

Json completion_of(const Tokenizer& tokenizer, const Translation& completion) {
    Json tokens = Json::array();
    for (const std::int32_t id : completion.ids) {
        tokens.push_back(tokenizer.piece(id));
    }
    return {{"completion", completion.text},
            {"log_probability", completion.log_probability},
            {"tokens", tokens},
            {"token_log_probabilities", completion.token_log_probabilities},
            {"end", name_of(completion.end)}};
}

}  // namespace

Json translation_json(const Tokenizer& target, const StreamedLine& line, bool n_best,
                      const std::vector<Alignment>& alignments) {
    const TextResult& sentence = line.sentence;
    Json json = {{"line", line.number}, {"source", line.source ? Json(*line.source) : Json()}};
    const auto alignment = [&](std::size_t i) { return i < alignments.size() ? &alignments[i] : nullptr; };
    if (!sentence.problem.empty()) {
        json["translation"] = nullptr;
        json["problem"] = sentence.problem;
    } else {
        put(json, target, sentence.n_best.front(), alignment(0));
    }
    if (!sentence.parts.empty()) {
        json["sentences"] = sentence.parts.size();
    }
    if (!sentence.remark.empty()) {
        json["remark"] = sentence.remark;
    }
    if (n_best && sentence.problem.empty()) {
        json["n_best"] = Json::array();
        for (std::size_t i = 0; i < sentence.n_best.size(); ++i) {
            Json& one = json["n_best"].emplace_back(Json::object());
            put(one, target, sentence.n_best[i], alignment(i));
        }
    }
    return json;
}

Json completion_json(const Tokenizer& tokenizer, std::int64_t number, const std::string& prompt,
                     const TextResult& found, bool n_best) {
    Json json = {{"line", number}, {"prompt", prompt}};
    if (!found.problem.empty()) {
        json["problem"] = found.problem;
        return json;
    }
    json.update(completion_of(tokenizer, found.n_best.front()));
    for (std::size_t i = 0; n_best && i < found.n_best.size(); ++i) {
        json["n_best"].push_back(completion_of(tokenizer, found.n_best[i]));
    }
    return json;
}

}  // namespace headscope
