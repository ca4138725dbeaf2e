// Filled gaps, scores and pieces as JSON: a line of --json, an element of what the C library gives.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "answers/tokenized_text.h"
#include "engine/requests.h"
#include "model/model_directory.h"

namespace headscope {

// The word that fills a mask, without the blank before it.
std::string word_of(const Tokenizer& tokenizer, const Candidate& candidate);
std::string word_of(const GapCandidate& candidate);

// What may stand at the masks or gaps of a text.
nlohmann::ordered_json fill_json(const Tokenizer& tokenizer, const std::string& text, const FillAnswer& filled);

// A scored pair, or a text without a source, as line `line` of its input.
nlohmann::ordered_json score_json(const ModelDirectory& model, std::int64_t line, const std::string& source,
                                  const std::string& target, const ScoredPair& pair);

// A text and its pieces with their bytes, as line `line` of its input.
nlohmann::ordered_json pieces_json(const Tokenizer& tokenizer, const TokenizedText& text, std::int64_t line);

}  // namespace headscope
