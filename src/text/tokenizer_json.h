// tokenizer.json, the file of Hugging Face's tokenizers, with BPE, WordPiece or unigram models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/added_token.h"
#include "text/bert_words.h"
#include "text/json_field.h"
#include "text/tokenizer_parts.h"

namespace headscope {

// Special pieces are control pieces with a usual name, and the model's unknown token. What follows splitting
// (post_processor, truncation, padding) is not applied. Error that names file and key for another model, normalizer,
// pre-tokenizer or option.
TokenizerParts parse_tokenizer_json(std::string_view bytes, const std::string& name);
// The same if the bytes are parsed already.
TokenizerParts parse_tokenizer_json(const nlohmann::json& parsed, std::string_view bytes, const std::string& name);

// Only the ids of a tokenizer.json. Added tokens such as languages are control pieces.
std::shared_ptr<const Vocabulary> ids_of_tokenizer_json(const nlohmann::json& file, const std::string& name);

// Its "added_tokens", and one of them.
struct AddedTokensList {
    std::vector<AddedToken> tokens;
    std::vector<std::int32_t> ids;  // -1: not given
};
AddedTokensList read_added_tokens(const JsonField& list);
nlohmann::json added_token_json(const AddedToken& token, std::int32_t id);

// A tokenizer.json of GPT-2's, RoBERTa's or BART's vocab.json and merges.txt; `name` is that of `merges`, for messages.
// Without `added`, the usual special pieces that the vocabulary has.
std::string byte_bpe_json(const Vocabulary& vocabulary, std::string_view merges, const std::string& name,
                          bool add_prefix_space = false, std::vector<AddedToken> added = {});
// A tokenizer.json of BERT's or DistilBERT's vocab.txt, or of WordPieces. `added` as above.
std::string word_piece_json(const Vocabulary& vocabulary, const BertWordOptions& options,
                            std::vector<AddedToken> added = {});
// A tokenizer.json of a SentencePiece model with BPE or unigram pieces. Error, without a name, for what it cannot hold,
// such as pieces of bytes.
std::string sentencepiece_json(std::string_view model, const Vocabulary& vocabulary);

// The control pieces and the unknown one.
std::vector<AddedToken> special_tokens(const Vocabulary& vocabulary);
// The list "added_tokens" of a file. Tokens that the vocabulary lacks come after it.
nlohmann::json added_tokens_json(const Vocabulary& vocabulary, const std::vector<AddedToken>& added);
// The file with pieces around each text (a "post_processor"), unless it has one of its own. -1: none. A second text has
// only the end.
std::string with_frame(std::string_view tokenizer_json, const Vocabulary& vocabulary, std::int32_t begin,
                       std::int32_t end);

}  // namespace headscope
