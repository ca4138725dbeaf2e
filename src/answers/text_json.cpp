#include "answers/text_json.h"

#include <cstddef>
#include <optional>

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

// How sure the model is of an output of a line. False if its text is left out.
bool put_confidence(Json& json, const TextResult& line, std::size_t rank, const UnsureRule& unsure) {
    const std::optional<double> confidence = confidence_of(line, rank);
    json["confidence"] = confidence ? Json(*confidence) : Json();
    const bool doubted = unsure.holds(confidence);
    if (doubted) {
        json["unsure"] = true;
    }
    return !doubted || !unsure.leaves_out;
}

Json words_json(const Tokenizer& tokenizer, const TextResult& line, std::size_t rank) {
    Json words = Json::array();
    for (const WordProbability& word : word_probabilities(tokenizer, line, rank)) {
        words.push_back(to_json(word));
    }
    return words;
}

// The fields of a translation, for the line itself and for each entry of an n-best list.
void put(Json& json, const Tokenizer& tokenizer, const TextResult& line, std::size_t rank, const Alignment* alignment,
         const UnsureRule& unsure) {
    const Translation& translation = line.n_best[rank];
    json["translation"] = translation.text;
    json["score"] = translation.score;
    json["log_probability"] = translation.log_probability;
    if (!put_confidence(json, line, rank, unsure)) {
        json["translation"] = nullptr;
        return;
    }
    json["tokens"] = pieces_of(tokenizer, translation);
    json["words"] = words_json(tokenizer, line, rank);
    if (translation.end == EndReason::Limit) {
        json["cut"] = true;
    }
    if (alignment != nullptr) {
        json["alignment"] = *alignment;
    }
}

Json completion_of(const Tokenizer& tokenizer, const TextResult& line, std::size_t rank, const UnsureRule& unsure) {
    const Translation& completion = line.n_best[rank];
    Json json{{"completion", completion.text}, {"log_probability", completion.log_probability}};
    if (!put_confidence(json, line, rank, unsure)) {
        json["completion"] = nullptr;
        return json;
    }
    Json tokens = Json::array();
    for (const std::int32_t id : completion.ids) {
        tokens.push_back(tokenizer.piece(id));
    }
    json["tokens"] = tokens;
    json["token_log_probabilities"] = completion.token_log_probabilities;
    json["words"] = words_json(tokenizer, line, rank);
    json["end"] = name_of(completion.end);
    return json;
}

}  // namespace

Json translation_json(const Tokenizer& target, const StreamedLine& line, bool n_best,
                      const std::vector<Alignment>& alignments, const UnsureRule& unsure) {
    const TextResult& sentence = line.sentence;
    Json json = {{"line", line.number}, {"source", line.source ? Json(*line.source) : Json()}};
    const auto alignment = [&](std::size_t i) { return i < alignments.size() ? &alignments[i] : nullptr; };
    if (!sentence.problem.empty()) {
        json["translation"] = nullptr;
        json["problem"] = sentence.problem;
    } else {
        put(json, target, sentence, 0, alignment(0), unsure);
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
            put(one, target, sentence, i, alignment(i), unsure);
        }
    }
    return json;
}

Json completion_json(const Tokenizer& tokenizer, std::int64_t number, const std::string& prompt,
                     const TextResult& found, bool n_best, const UnsureRule& unsure) {
    Json json = {{"line", number}, {"prompt", prompt}};
    if (!found.problem.empty()) {
        json["problem"] = found.problem;
        return json;
    }
    json.update(completion_of(tokenizer, found, 0, unsure));
    for (std::size_t i = 0; n_best && i < found.n_best.size(); ++i) {
        json["n_best"].push_back(completion_of(tokenizer, found, i, unsure));
    }
    return json;
}

}  // namespace headscope
