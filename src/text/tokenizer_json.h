// tokenizer.json, the file of Hugging Face's tokenizers, with byte-level BPE, WordPiece or unigram models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/added_tokens.h"
#include "text/bert_words.h"
#include "text/tokenizer_parts.h"

namespace headscope {

// Special pieces are control pieces with a usual name, and the model's unknown token. What follows splitting
// (post_processor, truncation, padding) is not applied. Error that names file and key for another model, normalizer,
// pre-tokenizer or option.
TokenizerParts parse_tokenizer_json(std::string_view bytes, const std::string& name);

// Only the ids of a tokenizer.json. Added tokens such as languages are control pieces.
std::shared_ptr<const Vocabulary> ids_of_tokenizer_json(const nlohmann::json& file, const std::string& name);

// A tokenizer.json of GPT-2's, RoBERTa's or BART's vocab.json and merges.txt; `name` is that of `merges`, for messages.
// Without `added`, the usual special pieces that the vocabulary has.
std::string byte_bpe_json(const Vocabulary& vocabulary, std::string_view merges, const std::string& name,
                          bool add_prefix_space = false, std::vector<AddedToken> added = {});
// A tokenizer.json of BERT's or DistilBERT's vocab.txt.
std::string word_piece_json(const Vocabulary& vocabulary, const BertWordOptions& options);

}  // namespace headscope
