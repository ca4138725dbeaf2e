// A tokenized text: ids for the model, pieces to display. The text of a language model is a target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_directory.h"
#include "observe/attention_record.h"
#include "text/tokenizer.h"

namespace headscope {

struct RecordedText {
    std::vector<std::int32_t> ids;    // without begin and end; a masked language model's may be masks
    std::vector<std::string> pieces;  // one for each id
    bool ended = true;                // false for an output that was truncated, and for a prompt
};

RecordedText encode_text(const Tokenizer& tokenizer, std::string_view text);
// The prompt of a causal language model, or the text of a masked one, in which each "[MASK]" is one masked token. Error
// if it is too long for the model.
RecordedText encode_language_text(const ModelDirectory& model, std::string_view text);
// From a decoder's output, which ends with eos if that was reached.
RecordedText text_of_output(const Tokenizer& tokenizer, const ModelConfig& config, std::vector<std::int32_t> ids);
// A prompt and what a causal language model writes or reads after it. Error if both are too long for the model.
RecordedText with_continuation(const Tokenizer& tokenizer, const ModelConfig& config, const RecordedText& prompt,
                               const std::vector<std::int32_t>& ids);

// The SentencePiece piece, "<EOS>", "<BOS>", "<pad>" or "[MASK]".
std::string token_text(const Tokenizer& tokenizer, const ModelConfig& config, std::int32_t token);

// Encoder input, decoder input and decoder output, as ids and as tokens.
std::vector<std::int32_t> source_ids(const ModelConfig& config, const RecordedText& source);
std::vector<std::int32_t> target_in_ids(const ModelConfig& config, const RecordedText& target);
std::vector<RecordedToken> source_tokens(const ModelConfig& config, const RecordedText& source, std::int64_t pads);
std::vector<RecordedToken> target_in_tokens(const ModelConfig& config, const RecordedText& target);
std::vector<RecordedToken> target_out_tokens(const ModelConfig& config, const RecordedText& target);

}  // namespace headscope
