#include "answers/word_json.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include "answers/confidence.h"
#include "model/family.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

Json list_of(const Tokenizer& tokenizer, const MaskedPosition& mask) {
    Json candidates = Json::array();
    const auto add = [&](const Candidate& candidate) -> Json& {
        return candidates.emplace_back(Json{{"word", word_of(tokenizer, candidate)},
                                            {"piece", tokenizer.piece(candidate.id)},
                                            {"id", candidate.id},
                                            {"probability", std::exp(candidate.log_probability)},
                                            {"log_probability", candidate.log_probability}});
    };
    for (const Candidate& candidate : mask.candidates) {
        add(candidate);
    }
    for (const Candidate& candidate : mask.special) {
        add(candidate)["special"] = true;
    }
    return candidates;
}

Json list_of(const Tokenizer& tokenizer, const std::vector<GapCandidate>& gap) {
    Json candidates = Json::array();
    for (const GapCandidate& candidate : gap) {
        Json pieces = Json::array();
        for (const std::int32_t id : candidate.ids) {
            pieces.push_back(tokenizer.piece(id));
        }
        candidates.push_back({{"word", word_of(candidate)},
                              {"pieces", pieces},
                              {"ids", candidate.ids},
                              {"probability", std::exp(candidate.log_probability)},
                              {"log_probability", candidate.log_probability}});
    }
    return candidates;
}

}  // namespace

std::string word_of(const Tokenizer& tokenizer, const Candidate& candidate) {
    return tokenizer.decode({candidate.id});
}

std::string word_of(const GapCandidate& candidate) {
    return candidate.text.substr(candidate.text.starts_with(' ') ? 1 : 0);
}

Json fill_json(const Tokenizer& tokenizer, const std::string& text, const FillAnswer& filled) {
    Json json = {{"text", text}, {"filled", filled.text}, {"masks", Json::array()}};
    for (const MaskedPosition& mask : filled.masks) {
        json["masks"].push_back(list_of(tokenizer, mask));
    }
    for (const std::vector<GapCandidate>& gap : filled.gaps) {
        json["masks"].push_back(list_of(tokenizer, gap));
    }
    return json;
}

Json score_json(const ModelDirectory& model, std::int64_t line, const std::string& source, const std::string& target,
                const ScoredPair& pair) {
    const FamilyTraits& family = traits(model.config.architecture);
    Json json = {{"line", line}};
    if (family.reads_source) {
        json["source"] = source;
    }
    json[family.reads_source ? "target" : "text"] = target;
    if (!pair.problem.empty()) {
        json["problem"] = pair.problem;
        return json;
    }
    json[family.likelihood_key] = pair.log_probability;
    json["nll"] = pair.nll();
    if (pair.empty) {
        json[family.reads_source ? "empty_target" : "empty_text"] = true;
    }
    json["tokens"] = Json::array();
    for (std::size_t i = 0; i < pair.target_ids.size(); ++i) {
        json["tokens"].push_back({{"token", model.target_tokenizer->piece(pair.target_ids[i])},
                                  {"log_probability", pair.log_probabilities[i]}});
    }
    json["words"] = Json::array();
    for (const WordProbability& word :
         word_probabilities(*model.target_tokenizer, pair.target_ids, pair.log_probabilities)) {
        json["words"].push_back(to_json(word));
    }
    return json;
}

Json pieces_json(const Tokenizer& tokenizer, const TokenizedText& text, std::int64_t line) {
    Json json = {{"line", line}, {"text", text.text}, {"pieces", Json::array()}};
    for (std::size_t i = 0; i < text.ids.size(); ++i) {
        Json piece = {
            {"piece", text.pieces[i]}, {"id", text.ids[i]}, {"begin", text.spans[i].begin}, {"end", text.spans[i].end}};
        if (text.ids[i] == tokenizer.unk_id()) {
            piece["unknown"] = true;
        }
        json["pieces"].push_back(std::move(piece));
    }
    return json;
}

}  // namespace headscope
